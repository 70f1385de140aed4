# Varnish in front of several vitrine-servers that share their images. make demo NAME=fleet runs it so. The file images.vcl lies
# beside it.
vcl 4.1;

import directors;

# A server that is full, that ends or that is gone gets no requests.
probe ready {
  .url = "/ready";
  .interval = 1s;
  .timeout = 1s;
  .window = 3;
  .threshold = 2;
  .initial = 2;
}

backend first { .host = "127.0.0.1"; .port = "8081"; .connect_timeout = 1s; .probe = ready; }
backend second { .host = "127.0.0.1"; .port = "8082"; .connect_timeout = 1s; .probe = ready; }
backend third { .host = "127.0.0.1"; .port = "8083"; .connect_timeout = 1s; .probe = ready; }

sub vcl_init {
  new fleet = directors.round_robin();
  fleet.add_backend(first);
  fleet.add_backend(second);
  fleet.add_backend(third);
}

sub vcl_recv {
  # A purge reaches one server, and Redis and the bucket through it. Purge the other servers as well.
  set req.backend_hint = fleet.backend();
}

sub vcl_backend_response {
  # Another server may have room.
  if (beresp.status == 503 && bereq.retries < 1) {
    return (retry);
  }
}

sub vcl_backend_error {
  # A server that has died in the middle of an answer costs nobody an image.
  if (bereq.retries < 2) {
    return (retry);
  }
}

include "./images.vcl";
