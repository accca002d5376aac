#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# perl_in_turns - what profiling costs a program, within one process
#
#	LD_PRELOAD=build/libcomdet.so tests/bench/perl_in_turns.pl
#		build/libcomdet.so [SLICES]
#
# The loop of bench.sh's perl. It asks the library to pause and to resume after
# each slice of work, and prints CPU time of the slices with profiling by that of
# those without: where pages lie and what the host does is the same for both.
# The first slices, which are new code and the full rate of the start, are left
# out.
use strict;
use warnings;
use DynaLoader;
use Time::HiRes qw(clock_gettime);

use constant { PROCESS_CPUTIME => 2, LEFT_OUT => 40, WORK => 60000 };

my ($library, $slices) = @ARGV;
die "usage: $0 LIBRARY [SLICES]\n" unless $library;
my $handle = DynaLoader::dl_load_file($library, 0)
	or die DynaLoader::dl_error(), "\n";
for my $name (qw(pause resume)) {
	my $hook = DynaLoader::dl_find_symbol($handle, "comdet_hook_$name")
		or die "$library has no comdet_hook_$name\n";
	DynaLoader::dl_install_xsub("main::$name", $hook);
}

my (%table, @with, @without);
my $i = 0;
for my $slice (1 .. $slices || 1600) {
	my $on = ($slice & 1) ^ ($slice >> 1 & 1); # with, without, without, with
	$on ? main::resume() : main::pause();
	my $before = clock_gettime(PROCESS_CPUTIME);
	for (1 .. WORK) {
		$i++;
		$table{$i * 7919 % 50021} .= 'x';
	}
	next if $slice <= LEFT_OUT;
	push @{$on ? \@with : \@without}, clock_gettime(PROCESS_CPUTIME) - $before;
}

my @ratio = sort { $a <=> $b } map { $with[$_] / $without[$_] } 0 .. $#without;
my ($sum, $sum_without, $mean, $squares) = (0, 0, 0, 0);
$sum += $_ for @with[0 .. $#without];
$sum_without += $_ for @without;
$mean += $_ / @ratio for @ratio;
$squares += ($_ - $mean)**2 for @ratio;
printf "%d pairs of %.1f ms: sum %.4f, median %.4f, mean %.4f +- %.4f\n",
	scalar @ratio, $sum_without / @without * 1000, $sum / $sum_without,
	$ratio[@ratio / 2], $mean, sqrt($squares / @ratio / (@ratio - 1));
