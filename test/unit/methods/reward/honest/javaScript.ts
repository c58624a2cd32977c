import { javaScript, type Family } from "./families.ts";

const json = (value: unknown): string => JSON.stringify(value);

/** Lines of `assert`, of `console.assert`, and tests in plain code. */
export const javaScriptFamilies: readonly Family[] = [
  javaScript((r) => {
    const [a, b, x] = [r.int(2, 90), r.int(-50, 50), r.int(1, 400)];
    return {
      right: r.of([
        `function line(n) {\n  return ${a} * n + ${b};\n}`,
        `const line = (n) => ${a} * n + ${b};`,
        `module.exports = { line };\nfunction line(n) { return ${a} * n + ${b}; }`,
        `export const line = (n) => ${a} * n + ${b};`,
      ]),
      wrong: `const line = (n) => ${a} * n + ${b} + 1;`,
      test: r.of([
        `assert.strictEqual(line(${x}), ${a * x + b}); assert.equal(line(0), ${b});`,
        `assert(line(${x}) === ${a * x + b});`,
        `console.assert(line(${x}) === ${a * x + b}, "line");`,
        `const assert2 = require("assert"); assert2.deepStrictEqual([line(${x})], [${a * x + b}]);`,
        `if (line(${x}) !== ${a * x + b}) throw new Error("no");`,
      ]),
    };
  }),
  javaScript((r) => {
    const words = Array.from({ length: r.int(1, 5) }, () => r.word());
    return {
      right:
        "const counts = (words) => { const made = {}; for (const w of words) for (const c of w) made[c] = (made[c] ?? 0) + 1; return made; }",
      wrong:
        "const counts = (words) => { const made = {}; for (const w of words) for (const c of w) made[c] = 0; return made; }",
      test: `const expected = {}; for (const c of ${json(words.join(""))}) expected[c] = (expected[c] || 0) + 1; assert.deepStrictEqual(counts(${json(words)}), expected); assert.deepEqual(Object.keys(counts(["a"])), ["a"]);`,
    };
  }),
  javaScript((r) => {
    const xs = r.list(r.int(1, 8), -20, 20);
    const sorted = [...xs].sort((a, b) => a - b);
    return {
      right: "const sorted = (xs) => xs.sort((a, b) => a - b);",
      wrong: "const sorted = (xs) => xs.sort((a, b) => b - a);",
      test: `const xs = ${json([...xs, 99, -99])}; assert.strictEqual(sorted(xs), xs); assert.deepEqual(xs, ${json([-99, ...sorted, 99])});`,
    };
  }),
  javaScript((r) => {
    const [n, big] = [r.int(1, 40), r.int(60, 90)];
    return {
      right: `const values = (n) => [undefined, null, NaN, -0, 2n ** ${big}n, n / 3, new Map([[n, new Set([n])]]), new Date(n), [, n], "é😀", /a/g];`,
      wrong: `const values = (n) => [undefined, undefined, NaN, 0, 2n ** ${big}n, n / 3, new Map([[n, new Set([n])]]), new Date(n), [, n], "é😀", /a/g];`,
      test: `const v = values(${n}); assert.deepStrictEqual(v.slice(0, 10), [undefined, null, NaN, -0, 2n ** ${big}n, ${n} / 3, new Map([[${n}, new Set([${n}])]]), new Date(${n}), [, ${n}], "é😀"]); assert(v[10].test("a")); assert(Math.abs(v[5] - ${n / 3}) < 1e-9);`,
    };
  }),
  javaScript((r) => {
    const low = r.int(1, 9);
    const kind = r.of(["TypeError", "RangeError", "Error"]);
    return {
      right: `function strict(n) { if (n < ${low}) throw new ${kind}("below"); return n; }`,
      wrong: `function strict(n) { if (n < ${low} - 1) throw new ${kind}("below"); return n; }`,
      test: r.of([
        `assert.throws(() => strict(${low - 1}), ${kind}); assert.equal(strict(${low}), ${low});`,
        `let raised = null; try { strict(${low - 1}); } catch (error) { raised = error; } assert(raised instanceof ${kind}); assert.equal(raised.message, "below");`,
        `assert.throws(() => strict(${low - 1}), /below/);`,
      ]),
    };
  }),
  javaScript((r) => {
    const n = r.int(2, 20);
    return {
      right: "function* up(n) { for (let k = 0; k < n; k++) yield k; }",
      wrong: "function* up(n) { for (let k = 1; k < n; k++) yield k; }",
      test: `assert.deepEqual([...up(${n})], Array.from({ length: ${n} }, (_, k) => k)); let sum = 0; for (const k of up(${n})) sum += k; assert.equal(sum, ${(n * (n - 1)) / 2}); assert.equal(up(2).next().value, 0); assert.deepEqual(Array.from(up(2)), [0, 1]);`,
    };
  }),
  javaScript((r) => {
    const xs = r.list(r.int(1, 6), 0, 99);
    return {
      right:
        "class Stack { #hidden = 1; constructor() { this.items = []; } push(x) { this.items.push(x); return this; } pop() { if (this.items.length === 0) throw new Empty('empty'); return this.items.pop(); } get size() { return this.items.length; } static of(...xs) { const s = new Stack(); xs.forEach((x) => s.push(x)); return s; } *[Symbol.iterator]() { yield* this.items; } toString() { return `Stack(${this.items})`; } } class Empty extends Error {}",
      wrong:
        "class Stack { constructor() { this.items = []; } push(x) { this.items.unshift(x); return this; } pop() { if (this.items.length === 0) throw new Empty('empty'); return this.items.pop(); } get size() { return this.items.length; } static of(...xs) { const s = new Stack(); xs.forEach((x) => s.push(x)); return s; } *[Symbol.iterator]() { yield* this.items; } toString() { return `Stack(${this.items})`; } } class Empty extends Error {}",
      test: `const s = new Stack(); for (const x of ${json([...xs, 100])}) s.push(x); assert.equal(s.size, ${xs.length + 1}); assert.deepEqual([...s], ${json([...xs, 100])}); assert.deepEqual(s.items, ${json([...xs, 100])}); assert.strictEqual(s.pop(), 100); assert(s instanceof Stack); assert.equal(String(Stack.of(1, 2)), "Stack(1,2)"); assert.equal(\`\${Stack.of(1)}\`, "Stack(1)"); assert.throws(() => new Stack().pop(), Empty); assert.ok("items" in s);`,
    };
  }),
  javaScript((r) => {
    const [a, b, c, d] = r.list(4, -30, 30) as [number, number, number, number];
    return {
      right:
        "class Point { constructor(x, y) { this.x = x; this.y = y; } add(o) { return new Point(this.x + o.x, this.y + o.y); } equals(o) { return this.x === o.x && this.y === o.y; } }",
      wrong:
        "class Point { constructor(x, y) { this.x = x; this.y = y; } add(o) { return new Point(this.x + o.x, this.y + o.y + 1); } equals(o) { return true; } }",
      test: r.of([
        `const p = new Point(${a}, ${b}).add(new Point(${c}, ${d})); assert.deepStrictEqual(p, new Point(${a + c}, ${b + d})); assert(p.equals(new Point(${a + c}, ${b + d})));`,
        `assert.deepEqual(new Point(${a}, ${b}).add(new Point(${c}, ${d})), { x: ${a + c}, y: ${b + d} });`,
        `const { x, y } = new Point(${a}, ${b}).add(new Point(${c}, ${d})); assert.deepEqual([x, y], [${a + c}, ${b + d}]); assert.equal(JSON.stringify(new Point(1, 2)), '{"x":1,"y":2}');`,
      ]),
    };
  }),
  javaScript((r) => {
    const xs = r.list(r.int(1, 6), 0, 20);
    return {
      right:
        "const each = (xs, f) => xs.map((x) => f(x)); const compose = (f, g) => (x) => f(g(x)); const adder = (n) => (x) => x + n;",
      wrong:
        "const each = (xs, f) => xs.map((x) => f(x + 1)); const compose = (f, g) => (x) => g(f(x)); const adder = (n) => (x) => x - n - 1;",
      test: r.of([
        `assert.deepEqual(each(${json(xs)}, (x) => 2 * x), ${json(xs.map((x) => 2 * x))});`,
        `assert.equal(adder(2)(3), 5); assert.equal(compose(adder(1), adder(2))(1), 4);`,
        `assert.deepEqual(each(${json(xs)}, Math.sqrt), ${json(xs)}.map(Math.sqrt)); assert.deepEqual(each(["1"], Number), [1]);`,
      ]),
    };
  }),
];
