# SPDX-License-Identifier: MIT
# Threads that hash (without the interpreter's lock) and count (with it),
# subprocesses, and a pool of forked workers, all of them followed.
needs=python3
working=2
children=1
version() { python3 --version | cut -d' ' -f2; }
prepare()
{
	cat >work.py <<'PYTHON'
import hashlib
import multiprocessing
import subprocess
import sys
import threading

results = {}


def digest(n):
    h = hashlib.sha256()
    block = bytes([n]) * (1 << 20)
    for _ in range(2000):
        h.update(block)
    results["digest %d" % n] = h.hexdigest()


def primes(n):
    found, k = 0, 3
    while found < n:
        if all(k % d for d in range(3, int(k ** 0.5) + 1, 2)):
            found += 1
        k += 2
    results["prime %d" % n] = k - 2


def square_sum(n):
    return sum(i * i % 7 for i in range(n))


def main():
    threads = [threading.Thread(target=digest, args=(n,)) for n in (1, 2)]
    threads += [threading.Thread(target=primes, args=(n,)) for n in (45000, 35000)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for key in sorted(results):
        print(key, results[key])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square_sum, [3000000 + i for i in range(4)]))
    out = subprocess.run([sys.executable, "-c",
                          "import sys; print(sum(i % 3 for i in range(4000000)));"
                          "sys.stderr.write('to stderr\\n'); sys.exit(3)"],
                         capture_output=True, text=True)
    print(out.returncode, out.stdout.strip(), out.stderr.strip())
    print(subprocess.getoutput("echo $((6 * 7)); kill -9 $$"))
    dead = subprocess.Popen(["sleep", "100"])
    dead.kill()
    print(dead.wait())
    sys.exit(5)


main()
PYTHON
}
run() { profiled python3 "$DATA/work.py"; }
