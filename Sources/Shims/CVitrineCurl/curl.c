#include "vitrine_curl.h"

#include <dlfcn.h>
#include <stddef.h>

// Wrapping variadic functions loses libcurl's type-checking macros, so each wrapper below has a single argument type.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

#define EACH_FUNCTION(F) \
  F(curl_global_init) F(curl_version_info) F(curl_easy_strerror) F(curl_slist_append) F(curl_slist_free_all) \
  F(curl_easy_init) F(curl_easy_cleanup) F(curl_easy_reset) F(curl_easy_pause) F(curl_easy_setopt) F(curl_easy_getinfo) \
  F(curl_multi_init) F(curl_multi_cleanup) F(curl_multi_add_handle) F(curl_multi_remove_handle) F(curl_multi_perform) \
  F(curl_multi_poll) F(curl_multi_wakeup) F(curl_multi_setopt) F(curl_multi_info_read) \
  F(curl_share_init) F(curl_share_setopt) F(curl_share_cleanup)

// Written once, when the library is opened, before any other thread can get here.
static struct {
#define FUNCTION(NAME) __typeof__(NAME) *NAME;
  EACH_FUNCTION(FUNCTION)
#undef FUNCTION
} library;

const char *vitrine_curl_open(void (*at_cleanup)(void)) {
  void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return dlerror();
#define FUNCTION(NAME) \
  if (!(library.NAME = (__typeof__(NAME) *)dlsym(handle, #NAME))) return "it has no " #NAME;
  EACH_FUNCTION(FUNCTION)
#undef FUNCTION
  // A search in libcurl's handle includes the libraries that it needs.
  int (*openssl_atexit)(void (*)(void)) = (int (*)(void (*)(void)))dlsym(handle, "OPENSSL_atexit");
  if (openssl_atexit) openssl_atexit(at_cleanup);
  return NULL;
}

CURLcode vitrine_curl_global_init(long flags) { return library.curl_global_init(flags); }

const curl_version_info_data *vitrine_curl_version_info(void) { return library.curl_version_info(CURLVERSION_NOW); }

const char *vitrine_curl_strerror(CURLcode code) { return library.curl_easy_strerror(code); }

struct curl_slist *vitrine_curl_slist_append(struct curl_slist *list, const char *line) {
  return library.curl_slist_append(list, line);
}

void vitrine_curl_slist_free_all(struct curl_slist *list) { library.curl_slist_free_all(list); }

CURL *vitrine_curl_easy_init(void) { return library.curl_easy_init(); }

void vitrine_curl_easy_cleanup(CURL *easy) { library.curl_easy_cleanup(easy); }

void vitrine_curl_easy_reset(CURL *easy) { library.curl_easy_reset(easy); }

CURLcode vitrine_curl_easy_pause(CURL *easy, int bitmask) { return library.curl_easy_pause(easy, bitmask); }

CURLM *vitrine_curl_multi_init(void) { return library.curl_multi_init(); }

CURLMcode vitrine_curl_multi_cleanup(CURLM *multi) { return library.curl_multi_cleanup(multi); }

CURLMcode vitrine_curl_multi_add_handle(CURLM *multi, CURL *easy) { return library.curl_multi_add_handle(multi, easy); }

CURLMcode vitrine_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  return library.curl_multi_remove_handle(multi, easy);
}

CURLMcode vitrine_curl_multi_perform(CURLM *multi, int *running) { return library.curl_multi_perform(multi, running); }

CURLMcode vitrine_curl_multi_poll(
    CURLM *multi, struct curl_waitfd *descriptors, unsigned count, int milliseconds, int *ready) {
  return library.curl_multi_poll(multi, descriptors, count, milliseconds, ready);
}

CURLMcode vitrine_curl_multi_wakeup(CURLM *multi) { return library.curl_multi_wakeup(multi); }

CURLSHcode vitrine_curl_share_cleanup(CURLSH *share) { return library.curl_share_cleanup(share); }

CURLcode vitrine_curl_set_long(CURL *easy, CURLoption option, long value) {
  return library.curl_easy_setopt(easy, option, value);
}

CURLcode vitrine_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return library.curl_easy_setopt(easy, option, value);
}

CURLcode vitrine_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return library.curl_easy_setopt(easy, option, value);
}

CURLcode vitrine_curl_set_callback(CURL *easy, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *)) {
  return library.curl_easy_setopt(easy, option, callback);
}

CURLcode vitrine_curl_set_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return library.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return library.curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

CURLcode vitrine_curl_set_open_socket(CURL *easy, curl_opensocket_callback callback) {
  return library.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

const struct sockaddr *vitrine_curl_address(const struct curl_sockaddr *address) { return &address->addr; }

void vitrine_curl_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  library.curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)easy;
#endif
}

CURLcode vitrine_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return library.curl_easy_getinfo(easy, info, value);
}

CURLcode vitrine_curl_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
  curl_off_t offset = 0;
  CURLcode code = library.curl_easy_getinfo(easy, info, &offset);
  *value = offset;
  return code;
}

const char *vitrine_curl_get_string(CURL *easy, CURLINFO info) {
  char *string = NULL;
  return library.curl_easy_getinfo(easy, info, &string) == CURLE_OK ? string : NULL;
}

void *vitrine_curl_get_private(CURL *easy) {
  char *pointer = NULL;
  return library.curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK ? pointer : NULL;
}

CURLMcode vitrine_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return library.curl_multi_setopt(multi, option, value);
}

CURL *vitrine_curl_multi_next_ended(CURLM *multi, CURLcode *result) {
  int remaining;
  for (CURLMsg *message; (message = library.curl_multi_info_read(multi, &remaining));) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

CURLSH *vitrine_curl_share_of_sessions(void) {
  CURLSH *share = library.curl_share_init();
  if (share) library.curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}
