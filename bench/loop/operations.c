/* The least that operations cost: their system calls in a loop, nothing recorded.
 *
 *   operations KIND TREE THREADS SECONDS
 *
 * Each thread passes over all files below TREE, from a place of its own on. "create" leaves them
 * alone: of twice as many names, each thread has its share, of which half exist at any time; it
 * creates the next and deletes the oldest. "create-shared" takes both from the names of all, in the
 * order in which threads of the engine do. "mail" does so with the files themselves and as many
 * names beside them: a pass of the mail server in bench/personalities.py.
 *
 * Prints the number of operations, counted as the workload language counts them, and the seconds
 * of wall, user and system time that they took.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { APART_B = 128, APPEND_B = 16384 };

struct turns {
    size_t next, left;
};

struct worker {
    alignas(APART_B) uint64_t operations;
    uint64_t random;
    char **paths;
    size_t path_count;
    size_t next, oldest;
    struct turns turns[2];
    int fd; /* the file that it reads and writes pieces of */
    uint64_t pieces;
    char *buffer;
    pthread_t thread;
};

struct kind {
    const char *name;
    unsigned (*once)(struct worker *, const char *path); /* returns operations */
    enum { PASSES, KEEPS_OPEN, CREATES, CHOOSES, CHOOSES_FILES } needs;
    size_t piece_b;
};

static const struct kind *kind;
static char **files;
static size_t file_count;
static char **names; /* of files that are created and deleted */
static atomic_uchar *states;
static size_t name_count;
static pthread_barrier_t ready;
static atomic_bool over;

static int opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0)
        err(1, "cannot open %s", path);
    return fd;
}

static void closed(int fd)
{
    if (close(fd) != 0)
        err(1, "cannot close a file");
}

/* A random number below a limit (xorshift64, Marsaglia 2003). */
static size_t drawn(struct worker *worker, size_t limit)
{
    uint64_t random = worker->random;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    worker->random = random;
    return (random >> 32) * limit >> 32;
}

static off_t offset(struct worker *worker)
{
    return (off_t)(drawn(worker, worker->pieces) * kind->piece_b);
}

static unsigned stat_file(struct worker *worker, const char *path)
{
    (void)worker;
    struct stat found;
    if (stat(path, &found) != 0)
        err(1, "cannot stat %s", path);
    return 1;
}

static unsigned open_close(struct worker *worker, const char *path)
{
    (void)worker;
    closed(opened(path, O_RDWR));
    return 2;
}

static unsigned read_piece(struct worker *worker, const char *path)
{
    ssize_t bytes = pread(worker->fd, worker->buffer, kind->piece_b, offset(worker));
    if (bytes != (ssize_t)kind->piece_b)
        err(1, "cannot read a piece of a file such as %s", path);
    return 1;
}

static unsigned write_piece(struct worker *worker, const char *path)
{
    ssize_t bytes = pwrite(worker->fd, worker->buffer, kind->piece_b, offset(worker));
    if (bytes != (ssize_t)kind->piece_b)
        err(1, "cannot write a piece of a file such as %s", path);
    return 1;
}

static void read_to_end(struct worker *worker, int fd)
{
    ssize_t bytes;
    while ((bytes = read(fd, worker->buffer, kind->piece_b)) > 0)
        ;
    if (bytes < 0)
        err(1, "cannot read a file");
}

static unsigned read_whole(struct worker *worker, const char *path)
{
    int fd = opened(path, O_RDWR);
    read_to_end(worker, fd);
    closed(fd);
    return 3;
}

static unsigned create_delete(struct worker *worker, const char *path)
{
    closed(opened(path, O_RDWR | O_CREAT));
    path = worker->paths[worker->oldest];
    if (unlink(path) != 0)
        err(1, "cannot delete %s", path);
    if (++worker->oldest == worker->path_count)
        worker->oldest = 0;
    return 3;
}

enum { ABSENT, PRESENT, TAKEN };
enum { TURNS = 8 };

struct rotor {
    alignas(APART_B) atomic_size_t next;
};

static struct rotor rotors[2]; /* by the state that is looked for */

/* Take the next name in a state, by a rotor of which a worker takes some turns at once. */
static size_t chosen(struct worker *worker, unsigned char state)
{
    struct turns *turns = &worker->turns[state];
    while (true) {
        if (turns->left == 0) {
            turns->next = atomic_fetch_add(&rotors[state].next, TURNS);
            turns->left = TURNS;
        }
        turns->left--;
        size_t name = turns->next++ % name_count;
        unsigned char found = state;
        if (atomic_compare_exchange_strong(&states[name], &found, TAKEN))
            return name;
    }
}

static unsigned create_delete_shared(struct worker *worker, const char *path)
{
    (void)path;
    size_t made = chosen(worker, ABSENT);
    closed(opened(names[made], O_RDWR | O_CREAT));
    atomic_store(&states[made], PRESENT);
    size_t deleted = chosen(worker, PRESENT);
    if (unlink(names[deleted]) != 0)
        err(1, "cannot delete %s", names[deleted]);
    atomic_store(&states[deleted], ABSENT);
    return 3;
}

static void appended(struct worker *worker, int fd)
{
    struct iovec piece = { worker->buffer, drawn(worker, APPEND_B) };
    if (piece.iov_len > 0 && pwritev2(fd, &piece, 1, -1, RWF_APPEND) != (ssize_t)piece.iov_len)
        err(1, "cannot append to a file");
    if (fsync(fd) != 0)
        err(1, "cannot have a file written");
}

static unsigned mail(struct worker *worker, const char *path)
{
    (void)path;
    size_t name = chosen(worker, PRESENT);
    if (unlink(names[name]) != 0)
        err(1, "cannot delete %s", names[name]);
    atomic_store(&states[name], ABSENT);

    name = chosen(worker, ABSENT);
    int fd = opened(names[name], O_RDWR | O_CREAT);
    appended(worker, fd);
    closed(fd);
    atomic_store(&states[name], PRESENT);

    name = chosen(worker, PRESENT);
    fd = opened(names[name], O_RDWR);
    read_to_end(worker, fd);
    appended(worker, fd);
    closed(fd);
    atomic_store(&states[name], PRESENT);

    name = chosen(worker, PRESENT);
    fd = opened(names[name], O_RDWR);
    read_to_end(worker, fd);
    closed(fd);
    atomic_store(&states[name], PRESENT);
    return 13;
}

static const struct kind kinds[] = {
    { "stat", stat_file, PASSES, 0 },
    { "open", open_close, PASSES, 0 },
    { "read", read_piece, KEEPS_OPEN, 4096 },
    { "write", write_piece, KEEPS_OPEN, 4096 },
    { "large", write_piece, KEEPS_OPEN, 1 << 20 },
    { "whole", read_whole, PASSES, 16384 },
    { "create", create_delete, CREATES, 0 },
    { "create-shared", create_delete_shared, CHOOSES, 0 },
    { "mail", mail, CHOOSES_FILES, 1 << 20 },
};

static int add_file(const char *path, const struct stat *found, int type, struct FTW *place)
{
    (void)found, (void)place;
    if (type != FTW_F)
        return 0;
    /* Grows at powers of two. */
    if ((file_count & (file_count - 1)) == 0) {
        files = realloc(files, (file_count ? 2 * file_count : 1) * sizeof *files);
        if (files == NULL)
            err(1, "no memory for the paths");
    }
    files[file_count] = strdup(path);
    return files[file_count++] == NULL;
}

/* Make up names, in all twice as many as there are files. Half of those that workers share exist:
 * the files themselves, or others. */
static void make_names(void)
{
    name_count = 2 * file_count;
    names = calloc(name_count, sizeof *names);
    states = calloc(name_count, sizeof *states);
    if (names == NULL || states == NULL)
        err(1, "no memory for the names");
    for (size_t name = 0; name < name_count; name++) {
        bool is_first = name % 2 == 0;
        if (kind->needs == CHOOSES_FILES && is_first)
            names[name] = files[name / 2];
        else if (asprintf(&names[name], "%s.%zu", files[name / 2], name % 2) < 0)
            errx(1, "no memory for the names");
        if (kind->needs == CHOOSES && is_first)
            closed(opened(names[name], O_RDWR | O_CREAT));
        if (kind->needs != CREATES && is_first)
            atomic_init(&states[name], PRESENT);
    }
}

/* Give a worker its share of the names, and create half of them. */
static void make_own_files(struct worker *worker, size_t number, size_t threads)
{
    worker->path_count = name_count / threads;
    worker->paths = calloc(worker->path_count, sizeof *worker->paths);
    if (worker->paths == NULL || worker->path_count < 2)
        errx(1, "too few files for so many threads, or no memory");
    for (size_t nth = 0; nth < worker->path_count; nth++)
        worker->paths[nth] = names[nth * threads + number];
    for (worker->next = 0; worker->next < worker->path_count / 2; worker->next++)
        closed(opened(worker->paths[worker->next], O_RDWR | O_CREAT));
}

static void make_ready(struct worker *worker, size_t number, size_t threads)
{
    worker->random = 0x9E3779B97F4A7C15u * (number + 1);
    worker->buffer = malloc(kind->piece_b + 1);
    if (worker->buffer == NULL)
        err(1, "no memory for a piece");
    memset(worker->buffer, 'x', kind->piece_b);
    if (kind->needs == CREATES) {
        make_own_files(worker, number, threads);
        return;
    }
    worker->paths = files;
    worker->path_count = file_count;
    worker->next = number * file_count / threads;
    if (kind->needs == KEEPS_OPEN) {
        struct stat found;
        worker->fd = opened(files[number % file_count], O_RDWR);
        if (fstat(worker->fd, &found) != 0)
            err(1, "cannot stat %s", files[number % file_count]);
        worker->pieces = (uint64_t)found.st_size / kind->piece_b;
        if (worker->pieces == 0)
            errx(1, "%s is smaller than a piece", files[number % file_count]);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&ready);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        worker->operations += kind->once(worker, worker->paths[worker->next]);
        if (++worker->next == worker->path_count)
            worker->next = 0;
    }
    return NULL;
}

struct times {
    double wall_s, user_s, system_s;
};

static struct times times_now(void)
{
    struct timespec now;
    struct rusage used;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &used);
    return (struct times){
        (double)now.tv_sec + (double)now.tv_nsec * 1e-9,
        (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec * 1e-6,
        (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec * 1e-6,
    };
}

int main(int count, char **arguments)
{
    if (count != 5)
        errx(2, "usage: operations KIND TREE THREADS SECONDS");
    for (size_t nth = 0; nth < sizeof kinds / sizeof *kinds; nth++)
        if (strcmp(kinds[nth].name, arguments[1]) == 0)
            kind = &kinds[nth];
    size_t threads = strtoul(arguments[3], NULL, 10);
    double seconds = strtod(arguments[4], NULL);
    if (kind == NULL || threads == 0 || !(seconds > 0))
        errx(2, "no such kind, or a number that is not positive");
    if (nftw(arguments[2], add_file, 64, FTW_PHYS) != 0 || file_count == 0)
        errx(1, "found no files below %s", arguments[2]);

    struct worker *workers = aligned_alloc(APART_B, threads * sizeof *workers);
    if (workers == NULL)
        err(1, "no memory for the threads");
    memset(workers, 0, threads * sizeof *workers);
    if (kind->needs >= CREATES)
        make_names();
    pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
    for (size_t nth = 0; nth < threads; nth++) {
        make_ready(&workers[nth], nth, threads);
        if (pthread_create(&workers[nth].thread, NULL, work, &workers[nth]) != 0)
            errx(1, "cannot start a thread");
    }
    pthread_barrier_wait(&ready);
    struct times start = times_now();
    struct timespec pause = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&pause, NULL);
    atomic_store(&over, true);
    uint64_t operations = 0;
    for (size_t nth = 0; nth < threads; nth++) {
        pthread_join(workers[nth].thread, NULL);
        operations += workers[nth].operations;
    }
    struct times end = times_now();
    printf("%llu %.6f %.6f %.6f\n", (unsigned long long)operations, end.wall_s - start.wall_s,
           end.user_s - start.user_s, end.system_s - start.system_s);
    for (size_t name = 0; name < name_count; name++)
        unlink(names[name]);
    return 0;
}
