#include "framework/record/provenance/provenance.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/message.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(provenance)

BOOST_AUTO_TEST_CASE(machine_build_and_libraries_are_reported) {
  const JsonObject json = gather_provenance();
  for (const char* fact : {"host", "kernel", "compiler", "version", "git_commit", "libs"})
    BOOST_TEST(!json.at(fact).get<std::string>().empty(), fact);
  for (const char* library : {"hdf5", "xtensor", "fmt", "yaml-cpp"})
    BOOST_TEST(!json.at("libraries").at(library).get<std::string>().empty(), library);
}

BOOST_AUTO_TEST_CASE(secrets_stay_out_and_what_bears_on_results_is_in) {
  setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  setenv("SLURM_JOB_ID", "12", 1);
  setenv("SLURM_JWT", "secret-token", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "secret-token", 1);
  setenv("LANG", "\xff not UTF-8", 1);
  const JsonObject json = gather_provenance();
  BOOST_TEST(json.at("environment").at("OPENBLAS_CORETYPE") == "Haswell");
  BOOST_TEST(json.at("slurm_job_id") == "12");
  const std::string text = json.dump(-1, ' ', false, JsonObject::error_handler_t::replace);
  BOOST_TEST(!test::contains(text, "secret-token"));
  unsetenv("SLURM_JOB_ID");
  unsetenv("OPENBLAS_CORETYPE");
}

BOOST_AUTO_TEST_SUITE_END()
