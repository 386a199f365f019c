// The geometric mechanism, as a program that dpaudit can ask: go build geometric.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand"
	"os"
	"strconv"
)

type request struct {
	Input int64 `json:"input"`
	Size  int   `json:"size"`
	Seed  int64 `json:"seed"`
}

func geometric(random *rand.Rand, epsilon float64) int64 {
	return int64(math.Floor(-math.Log(1-random.Float64()) / epsilon))
}

func main() {
	epsilon, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, `{"protocol": "dpaudit.sampler/1", "format": "jsonl"}`)
	out.Flush()
	for in := json.NewDecoder(os.Stdin); ; out.Flush() {
		var asked request
		if err := in.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		random := rand.New(rand.NewSource(asked.Seed))
		for i := 0; i < asked.Size; i++ {
			fmt.Fprintln(out, asked.Input+geometric(random, epsilon)-geometric(random, epsilon))
		}
	}
}
