# The geometric mechanism, as a program that dpaudit can ask: Rscript geometric.R 1.0
epsilon <- as.numeric(commandArgs(trailingOnly = TRUE)[1])

geometric <- function(size) floor(-log(runif(size)) / epsilon)

out <- stdout()
writeLines('{"protocol": "dpaudit.sampler/1", "format": "csv", "dtype": "int64"}', out)
flush(out)
requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) == 1) {
  # Input, size and seed are the only numbers of a request, in this order.
  asked <- as.numeric(regmatches(line, gregexpr("-?[0-9]+", line))[[1]])
  # Seeds of R have 31 bits, and requests' have 53.
  set.seed((asked[3] %% 2147483647) - 1073741824)
  outputs <- asked[1] + geometric(asked[2]) - geometric(asked[2])
  writeLines(format(outputs, scientific = FALSE, trim = TRUE), out)
  flush(out)
}
close(requests)
