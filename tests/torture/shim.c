// Faults for a program that knows nothing of them. Preloaded (LD_PRELOAD), this library counts the file calls below one folder,
// and at one of them fails, does half, or kills the process. It can keep a trace of all changes, bytes included, from which the
// states are built that a power cut may leave.
//
//   TORTURE_BELOW    the folders whose calls count, absolute paths with ':' between them; nothing happens without it
//   TORTURE_CALLS    which calls count, as "create,write"; without it, all of them:
//                    create open opendir read mmap stat write sync truncate rename link unlink mkdir
//   TORTURE_COUNT    a file of 14 numbers of 8 bytes, of all processes together: how many calls counted, and how many
//                    there were of each kind, in the order above
//   TORTURE_AT       the call at which something happens, from 1
//   TORTURE_TIMES    how many calls it happens to from there on; 0: all of them; without it, one
//   TORTURE_DO       fail | short | kill-before | kill-inside | kill-after | signal
//   TORTURE_NUMBER   the errno of fail, the number of the signal
//   TORTURE_TRACE    a file to which every change below the folder is appended (see keep)
//   TORTURE_STRAYS   a file to which the path of every change elsewhere is appended, a line each
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The function that the program would have called without us.
#define NEXT(function)                                                        \
  ({                                                                          \
    static __typeof__(&(function)) next_;                                     \
    if (!next_) next_ = (__typeof__(&(function)))dlsym(RTLD_NEXT, #function); \
    next_;                                                                    \
  })

enum Kind {
  CREATE,
  OPEN,
  OPENDIR,
  READ,
  MMAP,
  STAT,
  WRITE,
  SYNC,
  TRUNCATE,
  RENAME,
  LINK,
  UNLINK,
  MKDIR,
  KINDS
};
static const char* const kKinds[KINDS] = {"create",
                                          "open",
                                          "opendir",
                                          "read",
                                          "mmap",
                                          "stat",
                                          "write",
                                          "sync",
                                          "truncate",
                                          "rename",
                                          "link",
                                          "unlink",
                                          "mkdir"};

enum Fate { NOTHING, FAIL, SHORT, KILL_BEFORE, KILL_INSIDE, KILL_AFTER, SIGNAL };
static const char* const kFates[] = {
    "nothing", "fail", "short", "kill-before", "kill-inside", "kill-after", "signal"};

static struct {
  const char* below;
  bool counts[KINDS];
  uint64_t at, times;
  enum Fate fate;
  int number;
  int trace, strays;  // open files, -1 without
  uint64_t* count;    // shared with the other processes
  uint64_t own_count[1 + KINDS];
} settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t tracing = PTHREAD_MUTEX_INITIALIZER;

static uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

static int appended_file(const char* variable) {
  const char* path = getenv(variable);
  return path ? NEXT(open64)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
}

// Whether `word` stands in a list with commas; without a list every word does.
static bool is_listed(const char* word, const char* list) {
  const size_t length = strlen(word);
  for (const char* found = list; found; found = strchr(found, ',')) {
    found += *found == ',';
    if (strncmp(found, word, length) == 0 && (found[length] == ',' || found[length] == '\0'))
      return true;
  }
  return !list;
}

static void read_settings(void) {
  settings.below = getenv("TORTURE_BELOW");
  for (int kind = 0; kind < KINDS; ++kind)
    settings.counts[kind] = is_listed(kKinds[kind], getenv("TORTURE_CALLS"));
  settings.at = number_from("TORTURE_AT", 0);
  settings.times = number_from("TORTURE_TIMES", 1);
  settings.number = (int)number_from("TORTURE_NUMBER", EIO);
  const char* fate = getenv("TORTURE_DO");
  for (int i = NOTHING; fate && i <= SIGNAL; ++i)
    if (strcmp(fate, kFates[i]) == 0) settings.fate = (enum Fate)i;
  settings.trace = appended_file("TORTURE_TRACE");
  settings.strays = appended_file("TORTURE_STRAYS");
  settings.count = settings.own_count;
  const char* count = getenv("TORTURE_COUNT");
  if (!count) return;
  const int file = NEXT(open64)(count, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0 && NEXT(ftruncate64)(file, sizeof settings.own_count) == 0) {
    void* shared =
        NEXT(mmap64)(NULL, sizeof settings.own_count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) settings.count = shared;
  }
  if (file >= 0) NEXT(close)(file);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static bool is_below(const char* path) {
  for (const char* folder = settings.below; folder;) {
    const char* end = strchrnul(folder, ':');
    const size_t length = (size_t)(end - folder);
    if (strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0'))
      return true;
    folder = *end ? end + 1 : NULL;
  }
  return false;
}

struct Place {
  char path[2 * PATH_MAX];
};

// Which file a number stands for; empty for what is none.
static struct Place place_of(int file) {
  struct Place place;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const int reason = errno;
  const ssize_t length = readlink(link, place.path, PATH_MAX - 1);
  errno = reason;
  place.path[length > 0 ? length : 0] = '\0';
  return place;
}

static struct Place place_at(int folder, const char* path) {
  struct Place place;
  if (path[0] == '/') {
    snprintf(place.path, sizeof place.path, "%s", path);
  } else if (folder == AT_FDCWD) {
    if (!getcwd(place.path, PATH_MAX)) place.path[0] = '\0';
  } else {
    place = place_of(folder);
  }
  if (path[0] != '/') {
    const size_t length = strlen(place.path);
    snprintf(place.path + length, sizeof place.path - length, "/%s", path);
  }
  return place;
}

// A call between enter() and leave().
struct Call {
  enum Fate fate;
  bool below, locked;
};

// Counts a call, and says what happens to it; a signal has been sent.
static struct Call enter(enum Kind kind, const char* path) {
  const bool changes = kind == CREATE || kind >= WRITE;
  pthread_once(&once, read_settings);
  struct Call call = {NOTHING, settings.below && is_below(path), false};
  if (!call.below) {
    const bool is_file =
        path[0] == '/' && strncmp(path, "/dev/null", 9) != 0 && strncmp(path, "/dev/tty", 8) != 0;
    if (settings.below && changes && is_file && kind != SYNC && settings.strays >= 0)
      dprintf(settings.strays, "%s %s\n", kKinds[kind], path);
    return call;
  }
  __atomic_add_fetch(settings.count + 1 + kind, 1, __ATOMIC_SEQ_CST);
  if (settings.counts[kind]) {
    const uint64_t n = __atomic_add_fetch(settings.count, 1, __ATOMIC_SEQ_CST);
    const bool now = settings.at > 0 && n >= settings.at &&
                     (settings.times == 0 || n < settings.at + settings.times);
    if (now) call.fate = settings.fate;
  }
  if (call.fate == KILL_BEFORE) die();
  if (call.fate == SIGNAL) kill(getpid(), settings.number);
  // The trace has the changes in the order in which they happened.
  if (changes && settings.trace >= 0) {
    pthread_mutex_lock(&tracing);
    flock(settings.trace, LOCK_EX);
    call.locked = true;
  }
  return call;
}

// Whether a call fails, and says so in errno.
static bool fails(struct Call call) {
  if (call.fate == FAIL) errno = settings.number;
  return call.fate == FAIL;
}

static void leave(struct Call call) {
  if (call.fate == KILL_AFTER || call.fate == KILL_INSIDE) die();
  if (!call.locked) return;
  const int reason = errno;
  flock(settings.trace, LOCK_UN);
  pthread_mutex_unlock(&tracing);
  errno = reason;
}

// One change in the trace: "what<TAB>inode<TAB>offset<TAB>size<TAB>path<TAB>new path\n" and `size` bytes.
static void keep(struct Call call,
                 enum Kind kind,
                 uint64_t inode,
                 off64_t offset,
                 size_t size,
                 const void* bytes,
                 const char* path,
                 const char* new_path) {
  if (!call.below || settings.trace < 0) return;
  const int reason = errno;
  char* head = NULL;
  const int length = asprintf(&head,
                              "%s\t%ju\t%jd\t%zu\t%s\t%s\n",
                              kKinds[kind],
                              (uintmax_t)inode,
                              (intmax_t)offset,
                              size,
                              path,
                              new_path);
  const struct iovec parts[] = {{head, (size_t)length}, {(void*)bytes, bytes ? size : 0}};
  if (length < 0 || NEXT(writev)(settings.trace, parts, 2) < 0) abort();
  free(head);
  errno = reason;
}

static uint64_t inode_of(int file) {
  struct stat64 status;
  return fstat64(file, &status) == 0 ? status.st_ino : 0;
}

// ---- Opening

static int opened(int folder, const char* path, int flags, mode_t mode) {
  const struct Place place = place_at(folder, path);
  const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0;
  const struct Call call = enter(changes ? CREATE : OPEN, place.path);
  const bool is_new = call.below && faccessat(AT_FDCWD, place.path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  const int file = fails(call) ? -1 : NEXT(openat64)(folder, path, flags, mode);
  if (file >= 0 && (flags & O_CREAT) && is_new)
    keep(call, CREATE, inode_of(file), 0, 0, NULL, place.path, "");
  else if (file >= 0 && (flags & O_TRUNC))
    keep(call, TRUNCATE, inode_of(file), 0, 0, NULL, place.path, "");
  leave(call);
  return file;
}

static mode_t mode_of(int flags, va_list more) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define DEFINE_OPEN(name)                       \
  int name(const char* path, int flags, ...) {  \
    va_list more;                               \
    va_start(more, flags);                      \
    const mode_t mode = mode_of(flags, more);   \
    va_end(more);                               \
    return opened(AT_FDCWD, path, flags, mode); \
  }
#define DEFINE_OPENAT(name)                                \
  int name(int folder, const char* path, int flags, ...) { \
    va_list more;                                          \
    va_start(more, flags);                                 \
    const mode_t mode = mode_of(flags, more);              \
    va_end(more);                                          \
    return opened(folder, path, flags, mode);              \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

// C streams open files without calling open() above; C++ streams, too, begin with fopen.
FILE* fopen64(const char* path, const char* mode) {
  const int plus = strchr(mode, '+') ? O_RDWR : 0;
  const int flags =
      mode[0] == 'r' ? (plus ? plus : O_RDONLY)
                     : (plus ? plus : O_WRONLY) | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
  const int file = opened(AT_FDCWD, path, flags | O_CLOEXEC, 0666);
  FILE* stream = file < 0 ? NULL : fdopen(file, mode);
  if (file >= 0 && !stream) NEXT(close)(file);
  return stream;
}
FILE* fopen(const char* path, const char* mode) { return fopen64(path, mode); }

DIR* opendir(const char* path) {
  const struct Call call = enter(OPENDIR, place_at(AT_FDCWD, path).path);
  DIR* folder = fails(call) ? NULL : NEXT(opendir)(path);
  leave(call);
  return folder;
}

// ---- Reading

#define DEFINE_READ(name, parameters, arguments, fewer)        \
  ssize_t name parameters {                                    \
    const struct Call call = enter(READ, place_of(file).path); \
    if (call.fate == SHORT && size > 1) size = fewer;          \
    const ssize_t n = fails(call) ? -1 : NEXT(name) arguments; \
    leave(call);                                               \
    return n;                                                  \
  }
DEFINE_READ(read, (int file, void* bytes, size_t size), (file, bytes, size), size / 2)
DEFINE_READ(pread,
            (int file, void* bytes, size_t size, off_t offset),
            (file, bytes, size, offset),
            size / 2)
DEFINE_READ(pread64,
            (int file, void* bytes, size_t size, off64_t offset),
            (file, bytes, size, offset),
            size / 2)

static void* mapped(
    void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  const struct Call call = enter(MMAP, file < 0 ? "" : place_of(file).path);
  void* memory =
      fails(call) ? MAP_FAILED : NEXT(mmap64)(address, size, protection, flags, file, offset);
  leave(call);
  return memory;
}
void* mmap(void* a, size_t size, int protection, int flags, int file, off_t offset) {
  return mapped(a, size, protection, flags, file, offset);
}
void* mmap64(void* a, size_t size, int protection, int flags, int file, off64_t offset) {
  return mapped(a, size, protection, flags, file, offset);
}

#define DEFINE_STAT(name, type)                                       \
  int name(const char* path, struct type* status) {                   \
    const struct Call call = enter(STAT, place_at(AT_FDCWD, path).path); \
    const int result = fails(call) ? -1 : NEXT(name)(path, status);   \
    leave(call);                                                      \
    return result;                                                    \
  }
DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)

// ---- Changing files

// Where the next write() of a file goes.
static off64_t position(int file) {
  struct stat64 status;
  if (fcntl(file, F_GETFL) & O_APPEND) return fstat64(file, &status) == 0 ? status.st_size : 0;
  return lseek64(file, 0, SEEK_CUR);
}

// offset -1: write(), otherwise pwrite().
static ssize_t written(int file, const void* bytes, size_t size, off64_t offset) {
  const struct Place place = place_of(file);
  const struct Call call = enter(WRITE, place.path);
  if ((call.fate == SHORT || call.fate == KILL_INSIDE) && size > 1) size /= 2;
  const off64_t start = !call.below ? 0 : offset < 0 ? position(file) : offset;
  ssize_t n = -1;
  if (!fails(call))
    n = offset < 0 ? NEXT(write)(file, bytes, size) : NEXT(pwrite64)(file, bytes, size, offset);
  if (n > 0) keep(call, WRITE, inode_of(file), start, (size_t)n, bytes, place.path, "");
  leave(call);
  return n;
}
ssize_t write(int file, const void* bytes, size_t size) { return written(file, bytes, size, -1); }
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return written(file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return written(file, bytes, size, offset);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  char* whole = malloc(size + 1);
  if (!whole) return -1;
  char* end = whole;
  for (int i = 0; i < count; ++i) end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
  const ssize_t n = written(file, whole, size, -1);
  const int reason = errno;
  free(whole);
  errno = reason;
  return n;
}

// A call that returns 0 or -1, and what the trace says of it when it is 0.
#define CHANGE(kind, place, effect, inode, size, name, new_name)             \
  do {                                                                       \
    const struct Call call = enter(kind, (place).path);                      \
    const int result = fails(call) ? -1 : (effect);                          \
    if (result == 0) keep(call, kind, inode, size, 0, NULL, name, new_name); \
    leave(call);                                                             \
    return result;                                                           \
  } while (0)

static int synced(int file, int (*sync)(int)) {
  const struct Place place = place_of(file);
  CHANGE(SYNC, place, sync(file), inode_of(file), 0, place.path, "");
}
int fsync(int file) { return synced(file, NEXT(fsync)); }
int fdatasync(int file) { return synced(file, NEXT(fdatasync)); }

int ftruncate64(int file, off64_t size) {
  const struct Place place = place_of(file);
  CHANGE(TRUNCATE, place, NEXT(ftruncate64)(file, size), inode_of(file), size, place.path, "");
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int rename(const char* from, const char* to) {
  const struct Place old = place_at(AT_FDCWD, from), new = place_at(AT_FDCWD, to);
  CHANGE(RENAME, new, NEXT(rename)(from, to), 0, 0, old.path, new.path);
}

int link(const char* from, const char* to) {
  const struct Place old = place_at(AT_FDCWD, from), new = place_at(AT_FDCWD, to);
  CHANGE(LINK, new, NEXT(link)(from, to), 0, 0, old.path, new.path);
}

static int made_folder(int folder, const char* path, mode_t mode) {
  const struct Place place = place_at(folder, path);
  CHANGE(MKDIR, place, NEXT(mkdirat)(folder, path, mode), 0, 0, place.path, "");
}
int mkdir(const char* path, mode_t mode) { return made_folder(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char* path, mode_t mode) { return made_folder(folder, path, mode); }

static int unlinked(int folder, const char* path, int flags) {
  const struct Place place = place_at(folder, path);
  CHANGE(UNLINK, place, NEXT(unlinkat)(folder, path, flags), 0, 0, place.path, "");
}
int unlink(const char* path) { return unlinked(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinked(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int folder, const char* path, int flags) { return unlinked(folder, path, flags); }
int remove(const char* path) {
  struct stat64 status;
  const bool is_folder = NEXT(lstat64)(path, &status) == 0 && S_ISDIR(status.st_mode);
  return unlinked(AT_FDCWD, path, is_folder ? AT_REMOVEDIR : 0);
}
