// What a loaded plugin must have in common with the program: compiler ABI, scalar type and the
// layout of the shared types. Every object that registers a plugin (config/registry.hpp) carries the
// tag as text; the loader reads it from the file before running any of it.
#pragma once

#include "framework/base/types.hpp"

#define SOFTALIGN_TEXT_(x) #x
#define SOFTALIGN_TEXT(x) SOFTALIGN_TEXT_(x)

#define SOFTALIGN_API_VERSION 12

#ifdef SOFTALIGN_DOUBLE
#define SOFTALIGN_REAL "double"
#else
#define SOFTALIGN_REAL "float"
#endif

#define SOFTALIGN_ABI_TAG \
  "softalign-abi{api=" SOFTALIGN_TEXT(SOFTALIGN_API_VERSION) ";real=" SOFTALIGN_REAL \
  ";cxx11_abi=" SOFTALIGN_TEXT(_GLIBCXX_USE_CXX11_ABI) ";gxx_abi=" SOFTALIGN_TEXT(__GXX_ABI_VERSION) \
  ";pointer=" SOFTALIGN_TEXT(__SIZEOF_POINTER__) "}"

namespace softalign {
[[gnu::used]] static const char abi_tag[] = SOFTALIGN_ABI_TAG;
}
