/* The geometric mechanism, as a program that dpaudit can ask: cc -O2 -o geometric geometric.c -lm */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static double uniform(void) { /* splitmix64; in (0, 1] */
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((double)((z ^ (z >> 31)) >> 11) + 1.0) * 0x1p-53;
}

static int64_t geometric(double epsilon) { return (int64_t)floor(-log(uniform()) / epsilon); }

int main(int argc, char **argv) {
    double epsilon = argc > 1 ? atof(argv[1]) : 1.0;
    int64_t input;
    uint64_t size, seed;
    char line[256];
    puts("{\"protocol\": \"dpaudit.sampler/1\", \"format\": \"raw\", \"dtype\": \"int64\"}");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "{\"input\": %" SCNd64 ", \"size\": %" SCNu64 ", \"seed\": %" SCNu64 "}", &input, &size,
                   &seed) != 3) {
            fprintf(stderr, "no request about an integer: %s", line);
            return 1;
        }
        state = seed;
        for (uint64_t i = 0; i < size; i++) {
            int64_t output = input + geometric(epsilon) - geometric(epsilon);
            fwrite(&output, sizeof output, 1, stdout);
        }
        fflush(stdout);
    }
    return 0;
}
