import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";
import { statePages } from "../../../../server/analysis/verdict/pages.ts";
import { ruleGroups } from "../../../../server/cli/catalogue/ruleGroups.ts";
import { rulePageName } from "../../../../server/config/text/rulePages.ts";
import { methods } from "../../../../server/methods/index.ts";
import { generatedPages } from "../../../../server/cli/reference/index.ts";
import { slotKeys } from "../../../../server/cli/reference/places.ts";

/** As code hosts and editors make an anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

/** Of code in fences, a `#` begins no heading and a bracket no link. */
const withoutFences = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, "");

const anchors = (text: string): Set<string> =>
  new Set([...withoutFences(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));

const linksOf = (text: string): string[] =>
  [...withoutFences(text).matchAll(/(?<!!)\[[^\]]*\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);

test("every link of a generated page leads to a page and to a heading in it", () => {
  const pages = generatedPages();
  let links = 0;
  for (const [path, text] of pages)
    for (const link of linksOf(text)) {
      const [file = "", anchor = ""] = link.split("#");
      const target = file === "" ? path : posix.join(posix.dirname(path), file);
      const page = pages.get(target);
      links += 1;
      assert.ok(
        page !== undefined || existsSync(posix.join("dist/docs", target)),
        `${path} links to ${link}, and there is no ${target}`,
      );
      if (anchor !== "" && page !== undefined)
        assert.ok(anchors(page).has(anchor), `${path} links to ${link}, and ${target} has no such heading`);
    }
  assert.ok(links > 1000, `${links} links`);
});

test("every slot and every rule has a page", () => {
  const pages = generatedPages();
  for (const { slot, name } of methods)
    assert.ok(anchors(pages.get(`methods/${slot}.md`) ?? "").has(name), `no page tells of ${slot} ${name}`);
  for (const { id } of ruleGroups.flatMap((group) => group.pages))
    assert.ok(pages.has(`rules/${rulePageName(id)}`), `no page of ${id}`);
});

test("a verdict has a page with what docs/verdict.md says of it", () => {
  const text = readFileSync("docs/verdict.md", "utf8");
  const [, table = ""] = /^\| state .*\n(?:\|.*\n)*?(\| too early[^]*?)\n\n/m.exec(text) ?? [];
  const rows = [...table.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].map(([, state, holds]) => [state, holds]);
  assert.deepEqual(
    rows,
    Object.entries(statePages).map(([state, { holds }]) => [state, holds]),
  );
  assert.match(generatedPages().get("rules/collapsed.md") ?? "", /It holds when held-out results are worse/);
});

test("docs/methods.md names every method in the row of its slot", () => {
  const text = readFileSync("docs/methods.md", "utf8");
  const rows = new Map(
    [...text.matchAll(/^\| `(\w+)`\s*\| (.*) \|$/gm)].map(([, slot = "", names = ""]) => [
      slot,
      [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    ]),
  );
  const slots = [...new Set(methods.map(({ slot }) => slot))];
  assert.deepEqual([...rows.keys()].sort(), [...slots].sort());
  for (const slot of slots) {
    const declared = methods.filter((method) => method.slot === slot).map(({ name }) => name);
    assert.deepEqual(rows.get(slot)?.sort(), declared.sort(), `the row of ${slot} in docs/methods.md`);
  }
});

test("every slot with a method has a place in the config", () => {
  const missing = new Set(methods.map(({ slot }) => slot).filter((slot) => !slotKeys().has(slot)));
  assert.deepEqual([...missing], []);
  assert.equal(slotKeys().get("sampler")?.path, "curriculum.sampler");
  assert.equal(slotKeys().get("refill")?.path, "curriculum.admission.refill");
  assert.equal(slotKeys().get("kl")?.path, "kl[].estimator");
});

test("a page gives a parameter's range, default and whether it takes a schedule", () => {
  const page = generatedPages().get("methods/sampler.md") ?? "";
  assert.match(page, /^\| `temperature` \| a number above 0 \| `1` \| yes \| τ; /m);
  assert.match(page, /^\| `floor` \| a number from 0 to 1 \| `0\.1` \| no \| /m);
});
