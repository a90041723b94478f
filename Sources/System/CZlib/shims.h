#ifndef ALDABA_CZLIB_H
#define ALDABA_CZLIB_H
#include <zlib.h>
#endif
