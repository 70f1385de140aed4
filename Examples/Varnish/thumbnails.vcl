# Varnish in front of vitrine-server. make check NAME=browser runs it so. The file images.vcl lies beside it.
vcl 4.1;

backend thumbnails {
  .host = "127.0.0.1";
  .port = "8080";
}

include "./images.vcl";
