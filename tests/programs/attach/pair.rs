// SPDX-License-Identifier: MIT
//
// pair - two Rust threads that add to words of one line, to one word, or apart
//
//   pair false|true|clean

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[repr(align(64))]
struct Counters {
    word: [AtomicU64; 32],
}

static COUNTERS: Counters = Counters {
    word: [const { AtomicU64::new(0) }; 32],
};

fn add(i: usize) {
    loop {
        COUNTERS.word[i].fetch_add(1, Ordering::Relaxed); // SHARED
    }
}

fn main() {
    let apart = match std::env::args().nth(1).as_deref() {
        Some("true") => 0,
        Some("clean") => 16,
        _ => 1,
    };
    thread::spawn(move || add(apart));
    println!("ready");
    std::io::stdout().flush().unwrap();
    add(0);
}
