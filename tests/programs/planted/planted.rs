// SPDX-License-Identifier: MIT
//
// planted - mistakes in Rust, and the same mended
//
//	planted totals|shared bad|good [ROUNDS]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;

#[repr(C, align(64))]
struct Totals {
    read: AtomicU64,
    written: AtomicU64,
}
static TOTALS: Totals = Totals { read: AtomicU64::new(0), written: AtomicU64::new(0) };

#[repr(align(64))]
struct Line(AtomicU64);
static READ: Line = Line(AtomicU64::new(0));
static WRITTEN: Line = Line(AtomicU64::new(0));

#[repr(C, align(64))]
struct Shared {
    jobs: AtomicU64,
    done: AtomicU64,
}
#[repr(C)]
struct SharedGood {
    jobs: Line,
    done: Line,
}

#[inline(never)]
fn add_jobs(s: &Shared, rounds: u64) {
    for _ in 0..rounds {
        s.jobs.fetch_add(1, Relaxed);
    }
}

#[inline(never)]
fn add_done(s: &Shared, rounds: u64) {
    for _ in 0..rounds {
        s.done.fetch_add(1, Relaxed);
    }
}

#[inline(never)]
fn count(c: &AtomicU64, rounds: u64) {
    for _ in 0..rounds {
        c.fetch_add(1, Relaxed);
    }
}

fn both(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    thread::scope(|s| {
        s.spawn(a);
        s.spawn(b);
    });
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let good = args.len() > 2 && args[2] == "good";
    let rounds = args.get(3).and_then(|n| n.parse().ok()).unwrap_or(60_000_000);

    match args.get(1).map(|s| s.as_str()) {
        Some("totals") if good => {
            both(|| count(&READ.0, rounds), || count(&WRITTEN.0, rounds))
        }
        Some("totals") => both(
            || (0..rounds).for_each(|_| {
                TOTALS.read.fetch_add(1, Relaxed);
            }),
            || (0..rounds).for_each(|_| {
                TOTALS.written.fetch_add(1, Relaxed);
            }),
        ),
        Some("shared") if good => {
            let s = Arc::new(SharedGood {
                jobs: Line(AtomicU64::new(0)),
                done: Line(AtomicU64::new(0)),
            });
            both(|| count(&s.jobs.0, rounds), || count(&s.done.0, rounds))
        }
        Some("shared") => {
            let s = Arc::new(Shared { jobs: AtomicU64::new(0), done: AtomicU64::new(0) });
            both(|| add_jobs(&s, rounds), || add_done(&s, rounds))
        }
        _ => {
            eprintln!("usage: planted totals|shared bad|good [ROUNDS]");
            std::process::exit(2)
        }
    }
}
