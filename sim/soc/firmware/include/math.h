// Floating-point functions of the compiler's runtime.
#pragma once
double cos(double angle);
double sin(double angle);
long lrint(double value);
