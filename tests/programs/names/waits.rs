// SPDX-License-Identifier: MIT
//
// waits - a pointer into an Arc that waits in the frame while functions are
// called; each line that accesses a member says which
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Stats {
    lines: AtomicU64,
    words: AtomicU64,
}

struct Shared {
    counts: Mutex<HashMap<String, u64>>,
    stats: Stats,
    taken: Mutex<u64>,
}

fn work(s: &Shared, text: &str) {
    for line in text.lines() {
        s.stats.lines.fetch_add(1, Ordering::Relaxed); // is: Shared|.stats.lines
        for w in line.split(' ') {
            s.stats.words.fetch_add(1, Ordering::Relaxed); // is: Shared|.stats.words
            *s.counts.lock().unwrap().entry(w.to_string()).or_insert(0) += 1;
        }
        *s.taken.lock().unwrap() += 1;
    }
}

fn main() {
    let times: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let s = Arc::new(Shared {
        counts: Mutex::new(HashMap::new()),
        stats: Stats { lines: AtomicU64::new(0), words: AtomicU64::new(0) },
        taken: Mutex::new(0),
    });
    let t: Vec<_> = (0..3)
        .map(|_| {
            let s = s.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    work(&s, "a few words\nfor a map\n");
                }
            })
        })
        .collect();
    for x in t {
        x.join().unwrap();
    }
    println!("{}", s.stats.words.load(Ordering::Relaxed));
}
