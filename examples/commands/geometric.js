// The geometric mechanism, as a program that dpaudit can ask: node geometric.js 1.0
const readline = require("node:readline");

const epsilon = Number(process.argv[2] ?? 1);

/** sfc32 of a seed below 2^53: numbers in (0, 1]. */
function generator(seed) {
  let [a, b, c, d] = [seed >>> 0, Math.floor(seed / 2 ** 32), 0x9e3779b9, 1];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return ((t >>> 0) + 1) / 2 ** 32;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

const geometric = (random) => Math.floor(-Math.log(random()) / epsilon);

async function main() {
  process.stdout.write('{"protocol": "dpaudit.sampler/1", "format": "jsonl"}\n');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { input, size, seed } = JSON.parse(line);
    const random = generator(seed);
    const outputs = Array.from({ length: size }, () => input + geometric(random) - geometric(random));
    process.stdout.write(outputs.join("\n") + "\n");
  }
}

main();
