// SPDX-License-Identifier: MIT
//
// pair - two workers of Node.js that store to elements of a SharedArrayBuffer
// on one line, to one element, or apart
//
//   node pair.js false|true|clean

const { Worker, isMainThread, workerData } = require('worker_threads');

function add(counters, mine) {
  for (let i = 0; i < 100000; i++)
    counters[mine]++;
}

if (isMainThread) {
  const mode = process.argv[2] || 'false';
  const apart = mode === 'true' ? 0 : mode === 'clean' ? 128 : 1;
  const shared = new SharedArrayBuffer(1024);
  for (const mine of [0, apart])
    new Worker(__filename, { workerData: { shared, mine } });
  console.log('ready');
} else {
  const counters = new Int32Array(workerData.shared);
  for (;;)
    add(counters, workerData.mine);
}
