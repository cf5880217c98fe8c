// Standard input line by line, for a command that answers while others still write.
#pragma once

#include <string>
#include <string_view>

#include "framework/base/types.hpp"

namespace softalign::app {

class InputLines {
 public:
  // The next line without its end (LF or CRLF) and without a byte order mark; false after the last.
  // Throws DataError "standard input:LINE: ..." for what check_line refuses and for more than a MiB
  // without a line end, which is read no further, and when there is nothing that can be read.
  bool next(std::string& line);
  // Whether something has come that `next` has not taken: then it need not wait.
  bool waits() const;

 private:
  bool fill();

  std::string buffer_;          // what was read and not yet taken
  std::string_view remaining_;  // the part of it still to take
  Index number_ = 0;            // of the line read last, from 1
};

}  // namespace softalign::app
