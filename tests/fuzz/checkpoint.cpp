// Checkpoints with valid hashes: the blobs of a file, and a trainer that continues from them.
//
// An input is a checkpoint without its hash. Its blobs replace those of a trained model.
#include "framework/base/hash.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/train/small_trainer.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static test::SmallTrainer small(
      "schedule: {type: plateau}, average: {type: best, epochs: 2, metric: dev/loss}, ");
  static const Checkpoint end = small.checkpoint();
  const std::string content = Input(data, size).rest();
  const CheckpointMark mark{.update = 1, .file = "upd.ckpt", .sha256 = sha256_hex(content)};
  file(mark.file, content + mark.sha256);
  std::optional<Blobs> blobs;
  accepts([&] { blobs = load_checkpoint(folder(), mark); });
  if (!blobs) return 0;
  const CheckpointMark again = save_checkpoint(FileSystem::real(), folder(), 1, *blobs);
  require(load_checkpoint(folder(), again) == blobs, "a checkpoint is not what was saved");
  std::filesystem::remove(folder() / again.file);

  Checkpoint changed = end;
  for (const auto& [name, blob] : *blobs) changed.blobs[name] = blob;
  accepts([&] { small.trainer.restore(changed); });
  return 0;
}
