// SPDX-License-Identifier: MIT
//
// known - false sharing of known programs, written afresh
//
//	known PATTERN ITERATIONS [cured]
//
//   queue   a bounded queue of many producers and consumers (Vyukov), whose two
//           positions are on one line
//   shards  eight mutexes with a counter each, side by side; a thread mostly
//           uses its own two

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::Mutex;
use std::thread;

#[repr(align(64))]
struct Apart<T>(T);
struct Beside<T>(T);

trait Placed<T>: Sync + Send {
    fn new(value: T) -> Self;
    fn get(&self) -> &T;
}

impl<T: Sync + Send> Placed<T> for Apart<T> {
    fn new(value: T) -> Self {
        Apart(value)
    }
    fn get(&self) -> &T {
        &self.0
    }
}

impl<T: Sync + Send> Placed<T> for Beside<T> {
    fn new(value: T) -> Self {
        Beside(value)
    }
    fn get(&self) -> &T {
        &self.0
    }
}

const SLOTS: usize = 64;

// A line of its own, so that only the positions share one.
#[repr(align(64))]
struct Slot {
    sequence: AtomicUsize,
    value: UnsafeCell<usize>,
}

#[repr(C, align(64))]
struct Queue<P> {
    head: P,
    tail: P,
    slots: Vec<Slot>,
}

unsafe impl<P: Sync> Sync for Queue<P> {}

impl<P: Placed<AtomicUsize>> Queue<P> {
    fn push(&self, value: usize) -> bool {
        let at = self.tail.get().load(Relaxed);
        let slot = &self.slots[at % SLOTS];

        if slot.sequence.load(Acquire) != at
            || self.tail.get().compare_exchange(at, at + 1, Relaxed, Relaxed).is_err()
        {
            return false;
        }
        unsafe { *slot.value.get() = value };
        slot.sequence.store(at + 1, Release);
        true
    }

    fn pop(&self) -> Option<usize> {
        let at = self.head.get().load(Relaxed);
        let slot = &self.slots[at % SLOTS];

        if slot.sequence.load(Acquire) != at + 1
            || self.head.get().compare_exchange(at, at + 1, Relaxed, Relaxed).is_err()
        {
            return None;
        }
        let value = unsafe { *slot.value.get() };
        slot.sequence.store(at + SLOTS, Release);
        Some(value)
    }
}

fn queue<P: Placed<AtomicUsize>>(iterations: usize) {
    let q = Queue::<P> {
        head: P::new(AtomicUsize::new(0)),
        tail: P::new(AtomicUsize::new(0)),
        slots: (0..SLOTS)
            .map(|i| Slot { sequence: AtomicUsize::new(i), value: UnsafeCell::new(0) })
            .collect(),
    };

    thread::scope(|s| {
        for id in 0..4 {
            let q = &q;

            s.spawn(move || {
                for i in 0..iterations {
                    if id < 2 {
                        while !q.push(i) {}
                    } else {
                        while q.pop().is_none() {}
                    }
                }
            });
        }
    });
}

fn shards<P: Placed<Mutex<u64>>>(iterations: usize) {
    let all: Vec<P> = (0..8).map(|_| P::new(Mutex::new(0))).collect();

    thread::scope(|s| {
        for id in 0..4 {
            let all = &all;

            s.spawn(move || {
                for i in 0..iterations {
                    let which = if i % 10 == 9 { i / 10 % 8 } else { id * 2 + i % 2 };

                    *all[which].get().lock().unwrap() += 1;
                }
            });
        }
    });
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let iterations = args[2].parse().unwrap();
    let cured = args.len() > 3;

    match (args[1].as_str(), cured) {
        ("queue", false) => queue::<Beside<AtomicUsize>>(iterations),
        ("queue", true) => queue::<Apart<AtomicUsize>>(iterations),
        ("shards", false) => shards::<Beside<Mutex<u64>>>(iterations),
        ("shards", true) => shards::<Apart<Mutex<u64>>>(iterations),
        _ => std::process::exit(2),
    }
}
