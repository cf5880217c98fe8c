// Initial values of parameters. All are functions of a named random stream.
#pragma once

#include <vector>

#include "framework/autodiff/parameters.hpp"

namespace softalign::init {

Initializer zeros();
Initializer constant(double value);
Initializer blocks(std::vector<double> values);  // equal parts, each with one value
Initializer normal(double deviation);
Initializer uniform(double bound);  // in [-bound, bound)
// Uniform in ±sqrt(6 / (rows + columns)) (Glorot and Bengio 2010), with the columns of a single block
// if several are side by side.
Initializer glorot(Index blocks = 1);
// Like glorot, for a parameter that is only some of the rows of a matrix [rows, columns].
Initializer glorot_rows(Index rows);
// Orthogonal square blocks [U, U] side by side in [U, blocks * U] (Saxe et al. 2014; as GroundHog
// does for recurrences).
Initializer orthogonal(Index blocks = 1);

}  // namespace softalign::init
