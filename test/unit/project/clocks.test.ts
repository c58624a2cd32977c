/** No test measures the machine: what reads a clock to assert, or ends a wait earlier than others, fails where much is running. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

/** Clocks of which a test only wants how much has passed. */
const stopwatches = /^(performance\.(now|mark|measure)|process\.(cpuUsage|hrtime)|console\.time\w*)$/;
const relations = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
]);
/** What may, and why. */
const allowed: Readonly<Record<string, string>> = {
  "test/support/until.ts": "the one end of all waits",
  "test/webview/lanes.test.ts": "holds the page's clock still",
};

const isNow = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && node.expression.getText() === "Date.now";
const hasNow = (node: ts.Node): boolean => isNow(node) || ts.forEachChild(node, hasNow) === true;

/** What is wrong with one expression. */
function wrongWith(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && stopwatches.test(node.getText()))
    return `${node.getText()} measures the machine: count the work (test/support/steps.ts), or make it a row of bench/`;
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const since =
      operatorToken.kind === ts.SyntaxKind.MinusToken && isNow(left) && !ts.isNumericLiteral(right);
    if (since || (relations.has(operatorToken.kind) && (hasNow(left) || hasNow(right))))
      return `${node.getText()} asks how much time has passed: wait for a condition (test/support/until.ts)`;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const called = node.expression.getText();
  if (called === "this.timeout") return "this.timeout(…): suites have one limit, in .vscode-test.mjs";
  if (!/^(describe|it|test)$/.test(called)) return undefined;
  const own = node.arguments.some(
    (given) =>
      ts.isObjectLiteralExpression(given) &&
      given.properties.some((one) => one.name?.getText() === "timeout"),
  );
  return own
    ? "a test has no limit of its own: waits have one end, and files one (scripts/test/tiers.mjs)"
    : undefined;
}

function found(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const all: string[] = [];
  const visit = (node: ts.Node): void => {
    const wrong = wrongWith(node);
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    if (wrong !== undefined) all.push(`${file}:${line + 1}: ${wrong}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return all;
}

test("no test below test/ reads a clock to assert, except those of the tier long", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => join("test", name))
    .filter((name) => name.endsWith(".ts") && !/^test.(long|pictures|optional|fixtures)\b/.test(name));
  assert.ok(files.length > 500);
  const wrong = files
    .filter((file) => allowed[file.replaceAll("\\", "/")] === undefined)
    .flatMap((file) => found(file, readFileSync(file, "utf8")));
  assert.deepEqual(wrong, []);
});

test("each way to do it is noticed, and times of files are not", () => {
  const bad = [
    "const began = performance.now();",
    "const before = process.cpuUsage();",
    "const [s] = process.hrtime();",
    "assert.ok(Date.now() - began < 2_000);",
    "const taken = Date.now() - began;",
    "while (Date.now() < end) look();",
    "assert.ok(mtimeMs > Date.now() - 60_000);",
    'describe("a daemon", { skip, timeout: 60_000 }, () => undefined);',
    'it("ends", { timeout: 20_000 }, async () => undefined);',
    "this.timeout(60_000);",
  ];
  for (const text of bad) assert.notEqual(found("a.test.ts", text).length, 0, text);
  const good = [
    "utimesSync(file, new Date(Date.now() - 3_600_000), new Date());",
    "const name = `metrics-${Date.now()}.jsonl`;",
    'await score(url, rows("x"), { timeout: 0.1, tries: 2 });',
    'await until(() => done, "it to be done");',
  ];
  for (const text of good) assert.deepEqual(found("a.test.ts", text), []);
});
