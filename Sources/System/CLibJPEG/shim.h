// jpeglib.h uses FILE and size_t without including what defines them.
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>
