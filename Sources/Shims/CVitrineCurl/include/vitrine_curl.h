// libcurl, loaded at its first use: its variadic functions as plain ones, and its version-dependent features. This
// layer makes no decisions.
#ifndef VITRINE_CURL_H
#define VITRINE_CURL_H

#if !__has_include(<curl/curl.h>)
#error "Headers are missing: apt-get install libcurl4-openssl-dev"
#endif

#include <curl/curl.h>
#include <stdint.h>

/// Loads the library, once in a process. Returns NULL on success, otherwise the reason. Call it before anything else
/// here. If there is OpenSSL, it calls `at_cleanup` at exit before it frees anything.
///
/// A program linked to libcurl waits 5 ms at each start for its forty dependencies, and most starts load nothing.
const char *vitrine_curl_open(void (*at_cleanup)(void));

CURLcode vitrine_curl_global_init(long flags);
const curl_version_info_data *vitrine_curl_version_info(void);
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
/// The address itself, of the length of its family.
const struct sockaddr *vitrine_curl_address(const struct curl_sockaddr *);
/// Allows only http and https.
CURLcode vitrine_curl_set_http_only(CURL *);
/// Lets a name look-up continue by itself when its transfer is removed, if libcurl can (7.87).
void vitrine_curl_set_quick_exit(CURL *);

CURLcode vitrine_curl_get_long(CURL *, CURLINFO, long *value);
CURLcode vitrine_curl_get_offset(CURL *, CURLINFO, int64_t *value);
/// A string owned by the handle, or NULL.
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
/// The next transfer that has ended, with its result, or NULL if there is none.
CURL *vitrine_curl_multi_next_ended(CURLM *, CURLcode *result);
/// A share of TLS sessions for use by one thread, or NULL if there is no memory.
CURLSH *vitrine_curl_share_of_sessions(void);
CURLSHcode vitrine_curl_share_cleanup(CURLSH *);

#endif
