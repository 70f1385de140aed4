// libcurl, opened when it is first needed: its variadic functions as plain ones, and what depends on its version. Nothing is
// decided here.
#ifndef VITRINE_CURL_H
#define VITRINE_CURL_H

#include <curl/curl.h>
#include <stdint.h>

/// Opens the library, once in a process; NULL when that went well, else why not. To be called before anything else here.
///
/// A program that is linked to libcurl waits 5 ms at each start for the forty libraries that come with it, and most starts
/// load nothing.
const char *vitrine_curl_open(void);

CURLcode vitrine_curl_global_init(long flags);
const char *vitrine_curl_strerror(CURLcode);
struct curl_slist *vitrine_curl_slist_append(struct curl_slist *, const char *);
void vitrine_curl_slist_free_all(struct curl_slist *);

// ---- One transfer --------------------------------------------------------------------------------------------

CURL *vitrine_curl_easy_init(void);
void vitrine_curl_easy_cleanup(CURL *);
void vitrine_curl_easy_reset(CURL *);
CURLcode vitrine_curl_easy_pause(CURL *, int bitmask);
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

CURLM *vitrine_curl_multi_init(void);
CURLMcode vitrine_curl_multi_cleanup(CURLM *);
CURLMcode vitrine_curl_multi_add_handle(CURLM *, CURL *);
CURLMcode vitrine_curl_multi_remove_handle(CURLM *, CURL *);
CURLMcode vitrine_curl_multi_perform(CURLM *, int *running);
CURLMcode vitrine_curl_multi_poll(CURLM *, struct curl_waitfd *, unsigned count, int milliseconds, int *ready);
CURLMcode vitrine_curl_multi_wakeup(CURLM *);
CURLMcode vitrine_curl_multi_set_long(CURLM *, CURLMoption, long value);
/// The next transfer that has ended, with its result; NULL when there is no further.
CURL *vitrine_curl_multi_next_ended(CURLM *, CURLcode *result);
/// A share of TLS sessions, for use by one thread; NULL when there is no memory.
CURLSH *vitrine_curl_share_of_sessions(void);
CURLSHcode vitrine_curl_share_cleanup(CURLSH *);

#endif
