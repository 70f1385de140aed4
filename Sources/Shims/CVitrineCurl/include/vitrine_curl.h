// libcurl's variadic functions as plain ones, and what depends on its version. Nothing is decided here.
#ifndef VITRINE_CURL_H
#define VITRINE_CURL_H

#include <curl/curl.h>
#include <stdint.h>

// ---- One transfer --------------------------------------------------------------------------------------------

CURLcode vitrine_curl_set_long(CURL *, CURLoption, long value);
CURLcode vitrine_curl_set_string(CURL *, CURLoption, const char *value);
CURLcode vitrine_curl_set_pointer(CURL *, CURLoption, void *value);
CURLcode vitrine_curl_set_callback(CURL *, CURLoption, size_t (*)(char *, size_t, size_t, void *));
CURLcode vitrine_curl_set_open_socket(CURL *, curl_opensocket_callback);
/// The address proper, as long as its family needs.
const struct sockaddr *vitrine_curl_address(const struct curl_sockaddr *);
/// Allows http and https and nothing else.
CURLcode vitrine_curl_set_http_only(CURL *);
/// Lets a name look-up go on by itself when its transfer is removed, where libcurl can (7.87).
void vitrine_curl_set_quick_exit(CURL *);

CURLcode vitrine_curl_get_long(CURL *, CURLINFO, long *value);
CURLcode vitrine_curl_get_offset(CURL *, CURLINFO, int64_t *value);
/// A string that belongs to the handle, or NULL.
const char *vitrine_curl_get_string(CURL *, CURLINFO);
void *vitrine_curl_get_private(CURL *);

// ---- All transfers of an engine ------------------------------------------------------------------------------

CURLMcode vitrine_curl_multi_set_long(CURLM *, CURLMoption, long value);
/// The next transfer that has ended, with its result; NULL when there is no further.
CURL *vitrine_curl_multi_next_ended(CURLM *, CURLcode *result);
/// A share of TLS sessions, for use by one thread; NULL when there is no memory.
CURLSH *vitrine_curl_share_of_sessions(void);

#endif
