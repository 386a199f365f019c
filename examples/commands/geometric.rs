//! The geometric mechanism, as a program that dpaudit can ask: rustc -O geometric.rs
use std::io::{self, BufRead, BufWriter, Write};

struct Splitmix(u64);

impl Splitmix {
    /// A number in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    }

    fn geometric(&mut self, epsilon: f64) -> i64 {
        (-self.uniform().ln() / epsilon).floor() as i64
    }
}

fn main() -> io::Result<()> {
    let epsilon: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("epsilon"));
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, r#"{{"protocol": "dpaudit.sampler/1", "format": "jsonl"}}"#)?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        // Input, size and seed are the only numbers of a request, in this order.
        let numbers = line.split(|mark: char| !mark.is_ascii_digit() && mark != '-').filter(|part| !part.is_empty());
        let asked: Vec<i64> = numbers.map(|part| part.parse().expect("an integer")).collect();
        let mut random = Splitmix(asked[2] as u64);
        for _ in 0..asked[1] {
            writeln!(out, "{}", asked[0] + random.geometric(epsilon) - random.geometric(epsilon))?;
        }
        out.flush()?;
    }
    Ok(())
}
