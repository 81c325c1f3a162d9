// SPDX-License-Identifier: GPL-2.0-or-later
// Makes hist_golden.txt with an independent implementation: npm package hdr-histogram-js 3.0.1.
//	node hist_golden.js > hist_golden.txt
// Its bucket search is exact below 2^47 only (it takes the logarithm as a double).
const hdr = require("hdr-histogram-js");

let state = 12345;
function random(below) {
	state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
	return Math.floor((state / 0x80000000) * below);
}

function logUniform(highest) {
	return Math.floor(Math.exp((random(1 << 30) / (1 << 30)) * Math.log(highest)));
}

const cases = [
	["empty", 1, 1000, 2, []],
	["zero", 1, 1000, 3, [[0, 5]]],
	["one", 1, 3600000000, 3, [[1, 1]]],
	["highest", 1, 1000000, 3, [[1000000, 1]]],
	["apart", 1, 3600000000, 3, [[0, 1], [3600000000, 1]]],
	["holes", 1, 100000, 1, [[0, 1], [2, 1], [5, 1], [6, 1], [90000, 7]]],
	["unit-1000", 1000, 60000000000, 2, [[0, 3], [999, 2], [1000, 1], [123456789, 4], [59999999999, 1]]],
	["digits-5", 1, 10000000, 5, [[1, 1], [199999, 2], [200001, 3], [9999999, 4]]],
	["counts", 1, 5000, 3, [[1, 63], [2, 64], [3, 8191], [4, 8192], [5, 1048576], [6, 2147483648],
		[7, 1099511627776], [8, 35184372088832]]],
];
for (const [digits, n] of [[1, 300], [2, 1000], [3, 3000], [4, 2000]]) {
	const records = [];
	for (let i = 0; i < n; i++)
		records.push([logUniform(1 << 30) * 900, 1 + random(20)]);
	cases.push([`random-${digits}`, 1, 2 ** 40, digits, records]);
}

console.log("# Made by hist_golden.js with hdr-histogram-js 3.0.1; see there.");
for (const [name, lowest, highest, digits, records] of cases) {
	const h = hdr.build({ lowestDiscernibleValue: lowest, highestTrackableValue: highest,
		numberOfSignificantValueDigits: digits, bitBucketSize: 64 });
	console.log(`case ${name} ${lowest} ${highest} ${digits}`);
	for (const [value, count] of records) {
		h.recordValueWithCount(value, count);
		console.log(`record ${value} ${count}`);
	}
	for (const ppm of [0, 1, 1000, 250000, 500000, 900000, 990000, 999000, 999900, 999999, 1000000])
		console.log(`percentile ${ppm} ${h.getValueAtPercentile(ppm / 10000)}`);
	for (let i = 0; i < 20; i++) {
		const value = logUniform(highest);
		console.log(`bucket ${value} ${h.lowestEquivalentValue(value)} ${h.highestEquivalentValue(value)}`);
	}
	console.log(`counts ${h.countsArrayLength}`);
	console.log(`encoded ${h.encodeIntoCompressedBase64()}`);
}
