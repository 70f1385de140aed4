#ifndef VITRINE_CLIBHEIF_H
#define VITRINE_CLIBHEIF_H

#if !__has_include(<libheif/heif.h>)
#error "Headers are missing: apt-get install libheif-dev"
#endif

#include <libheif/heif.h>

#include "../renamed.h"

#define VITRINE_HEIF_FUNCTIONS(F) \
  F(heif_have_decoder_for_format) F(heif_context_alloc) F(heif_context_free) F(heif_context_get_primary_image_handle) \
  F(heif_context_read_from_memory_without_copy) F(heif_context_set_max_decoding_threads) \
  F(heif_context_set_maximum_image_size_limit) F(heif_decode_image) F(heif_decoding_options_alloc) \
  F(heif_decoding_options_free) F(heif_image_get_bits_per_pixel_range) F(heif_image_get_height) \
  F(heif_image_get_plane_readonly) F(heif_image_get_width) \
  F(heif_image_handle_get_height) F(heif_image_handle_get_ispe_height) F(heif_image_handle_get_ispe_width) \
  F(heif_image_handle_get_list_of_thumbnail_IDs) F(heif_image_handle_get_luma_bits_per_pixel) \
  F(heif_image_handle_get_nclx_color_profile) F(heif_image_handle_get_number_of_thumbnails) \
  F(heif_image_handle_get_raw_color_profile) F(heif_image_handle_get_raw_color_profile_size) \
  F(heif_image_handle_get_thumbnail) F(heif_image_handle_get_width) F(heif_image_handle_has_alpha_channel) \
  F(heif_image_handle_is_premultiplied_alpha) F(heif_image_handle_release) F(heif_image_release) F(heif_init) \
  F(heif_nclx_color_profile_free)

VITRINE_HEIF_FUNCTIONS(VITRINE_RENAMED)

#endif
