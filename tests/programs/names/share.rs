// SPDX-License-Identifier: MIT
//
// share - the same in Rust: the statement calls the library, which is inlined

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[repr(align(64))]
struct Pair {
    left: AtomicU64,
    right: AtomicU64,
}

static PAIR: Pair = Pair {
    left: AtomicU64::new(0),
    right: AtomicU64::new(0),
};

fn work(mine: &AtomicU64, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        for _ in 0..100000 {
            mine.fetch_add(1, Ordering::Relaxed); // SHARED
        }
    }
}

fn main() {
    let ms = std::env::args().nth(1).map_or(1000, |s| s.parse().unwrap());
    let time = Duration::from_millis(ms);
    let a = thread::spawn(move || work(&PAIR.left, time));
    let b = thread::spawn(move || work(&PAIR.right, time));
    a.join().unwrap();
    b.join().unwrap();
    let counted = PAIR.left.load(Ordering::Relaxed) > 0
        && PAIR.right.load(Ordering::Relaxed) > 0;
    println!("{}", counted as i32);
}
