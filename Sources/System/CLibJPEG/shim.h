#if !__has_include(<jpeglib.h>)
#error "Headers are missing: apt-get install libjpeg-dev, or brew install jpeg-turbo"
#endif

// jpeglib.h uses FILE and size_t without including what defines them.
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>
