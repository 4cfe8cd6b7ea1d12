/* Reads of a block device with direct I/O, a fixed number of them under way:
 *   device PATH DEPTH BLOCK_BYTES SECONDS random|sequential
 * Prints the reads, the seconds and the median latency in microseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, KEPT = 1 << 22 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

int main(int count, char **words)
{
    if (count != 6)
        return fprintf(stderr, "see the head of device.c\n"), 1;
    int depth = atoi(words[2]), is_random = strcmp(words[5], "random") == 0;
    long block_b = atol(words[3]);
    int file = open(words[1], O_RDONLY | O_DIRECT);
    if (file < 0)
        fail(words[1]);
    if (depth < 1 || depth > MOST)
        return fprintf(stderr, "a depth from 1 to %d\n", MOST), 1;
    off_t blocks = lseek(file, 0, SEEK_END) / block_b;
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, MOST, &context) < 0)
        fail("io_setup");
    static struct iocb requests[MOST];
    static uint64_t begun[MOST];
    uint64_t *latencies = malloc(KEPT * sizeof *latencies), state = 1, reads = 0;
    off_t next = 0;
    uint64_t start = now_ns(), end = start + (uint64_t)(atof(words[4]) * 1e9), stop = start;
    int under_way = 0;
    for (int slot = 0; slot < depth; slot++) {
        struct iocb *request = &requests[slot];
        void *memory;
        if (posix_memalign(&memory, 4096, block_b))
            fail("memory");
        memset(memory, 0, block_b);
        request->aio_lio_opcode = IOCB_CMD_PREAD;
        request->aio_fildes = file;
        request->aio_buf = (uintptr_t)memory;
        request->aio_nbytes = block_b;
        request->aio_data = slot;
    }
    struct io_event events[MOST];
    int ready = depth;
    for (int slot = 0; slot < depth; slot++)
        events[slot].data = slot;
    do {
        uint64_t now = now_ns();
        for (int nth = 0; nth < ready && now < end; nth++) {
            int slot = events[nth].data;
            struct iocb *request = &requests[slot];
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            off_t block = is_random ? (off_t)((state >> 33) % blocks) : next++ % blocks;
            request->aio_offset = block * block_b;
            begun[slot] = now_ns();
            if (syscall(SYS_io_submit, context, 1, &request) != 1)
                fail("io_submit");
            under_way++;
        }
        if (under_way == 0)
            break;
        ready = syscall(SYS_io_getevents, context, 1, MOST, events, NULL);
        stop = now_ns();
        for (int nth = 0; nth < ready; nth++) {
            if (events[nth].res != block_b)
                return fprintf(stderr, "a read failed: %lld\n", (long long)events[nth].res), 1;
            latencies[reads++ % KEPT] = stop - begun[events[nth].data];
            under_way--;
        }
    } while (ready > 0);
    uint64_t kept = reads < KEPT ? reads : KEPT;
    qsort(latencies, kept, sizeof *latencies, by_value);
    printf("%llu %.6f %.3f\n", (unsigned long long)reads, (stop - start) / 1e9,
           latencies[kept / 2] / 1e3);
    return 0;
}
