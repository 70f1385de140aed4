# What Varnish needs to know about images, whatever servers make them. thumbnails.vcl and fleet.vcl include it.
import std;

sub vcl_recv {
  # The answer of vitrine-server says whether the token is right; see vcl_deliver.
  if (req.method == "PURGE") {
    return (pass);
  }
  # What a browser accepts beside the formats that are chosen makes no other answer, and would only divide the cache.
  if (req.http.Accept) {
    set req.http.X-Formats = "";
    if (req.http.Accept ~ "image/avif") { set req.http.X-Formats = req.http.X-Formats + "image/avif,"; }
    if (req.http.Accept ~ "image/jxl") { set req.http.X-Formats = req.http.X-Formats + "image/jxl,"; }
    if (req.http.Accept ~ "image/webp") { set req.http.X-Formats = req.http.X-Formats + "image/webp,"; }
    set req.http.Accept = req.http.X-Formats + "*/*";
    unset req.http.X-Formats;
  }
  # An image is the same for all.
  unset req.http.Cookie;
}

sub vcl_backend_response {
  # Kept after its time, so that it is revalidated by its entity tag and not made again.
  set beresp.keep = 1d;
  # For vcl_deliver, whose bans must not need the request.
  set beresp.http.X-Target = bereq.url;
}

sub vcl_deliver {
  # vitrine-server has removed the source with all of its images. Here go all whose URL ends with the same source.
  if (req.method == "PURGE" && resp.status == 200) {
    set req.http.X-Source = regsub(regsub(req.url, "^.*/plain/", ""), "@[a-z0-9]*$", "");
    set req.http.X-Source = regsuball(req.http.X-Source, "[][.+*?^$(){}|\\]", "\\\0");
    if (std.ban("obj.http.X-Target ~ /plain/" + req.http.X-Source + "(@[a-z0-9]*)?$")) {
      set resp.http.X-Purged = "yes";
    } else {
      set resp.http.X-Purged = std.ban_error();
    }
  }
  unset resp.http.X-Target;
}
