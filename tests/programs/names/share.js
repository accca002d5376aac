// SPDX-License-Identifier: MIT
//
// share - the same in JavaScript: the JIT compiler makes the code

const { Worker, isMainThread, workerData } = require('worker_threads');

function count(counters, mine) {
  for (let i = 0; i < 100000; i++)
    counters[mine]++; // SHARED
}

function work(counters, mine, ms) {
  for (const end = Date.now() + ms; Date.now() < end;)
    count(counters, mine);
}

if (isMainThread) {
  const ms = Number(process.argv[2] || 1000);
  const shared = new SharedArrayBuffer(64);
  const counters = new Int32Array(shared);
  let left = 2;
  for (let mine = 0; mine < 2; mine++) {
    new Worker(__filename, { workerData: { shared, mine, ms } })
      .on('exit', () => {
        if (--left === 0)
          console.log(counters[0] !== 0 && counters[1] !== 0);
      });
  }
} else {
  const { shared, mine, ms } = workerData;
  work(new Int32Array(shared), mine, ms);
}
