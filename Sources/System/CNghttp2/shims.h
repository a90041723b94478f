#ifndef ALDABA_CNGHTTP2_H
#define ALDABA_CNGHTTP2_H
#include <nghttp2/nghttp2.h>
#endif
