import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import {
  commands,
  contextKeys,
  language,
  panels,
  settings,
  views,
} from "../../../shared/editor/contributions.ts";

const themes = ["dark", "light", "hc", "hcLight"] as const;
const item = z.object({ command: z.string(), when: z.string().optional(), group: z.string().optional() });
const manifestShape = z.object({
  activationEvents: z.array(z.string()),
  contributes: z.object({
    commands: z.array(
      z.object({
        command: z.string(),
        title: z.string(),
        category: z.string(),
        icon: z.string().optional(),
        enablement: z.string().optional(),
      }),
    ),
    menus: z.record(z.string(), z.array(item)),
    keybindings: z.array(
      z.object({ command: z.string(), key: z.string(), mac: z.string().optional(), when: z.string() }),
    ),
    viewsContainers: z.object({ activitybar: z.array(z.object({ id: z.string(), icon: z.string() })) }),
    views: z.record(z.string(), z.array(z.object({ id: z.string(), icon: z.string() }))),
    viewsWelcome: z.array(z.object({ view: z.string(), contents: z.string(), when: z.string() })),
    languages: z.array(
      z.object({
        id: z.string(),
        extensions: z.array(z.string()).optional(),
        configuration: z.string().optional(),
      }),
    ),
    grammars: z.array(z.object({ language: z.string(), path: z.string() })),
    configuration: z.object({
      properties: z.record(
        z.string(),
        z.object({
          type: z.string(),
          default: z.unknown(),
          markdownDescription: z.string(),
          scope: z.string(),
        }),
      ),
    }),
    walkthroughs: z.array(
      z.object({
        id: z.string(),
        steps: z.array(
          z.object({
            id: z.string(),
            description: z.string(),
            completionEvents: z.array(z.string()).min(1),
            media: z.object({ image: z.record(z.enum(themes), z.string()), altText: z.string() }),
          }),
        ),
      }),
    ),
  }),
});
const text = readFileSync("package.json", "utf8");
const { contributes, activationEvents } = manifestShape.parse(JSON.parse(text));
const words = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync("package.nls.json", "utf8")));
const sources = readdirSync("extension", { recursive: true })
  .map((name) => join("extension", String(name)))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(name, "utf8"));

const sorted = (names: Iterable<string>): readonly string[] => [...names].sort();

test("the manifest's commands are those of shared/editor/contributions.ts, and each is registered once", () => {
  assert.deepEqual(
    sorted(contributes.commands.map(({ command }) => command)),
    sorted(Object.values(commands)),
  );
  const registered = sources.flatMap((source) =>
    [...source.matchAll(/\bregister\(\s*"(\w+)"/g)].map((match) => match[1]!),
  );
  assert.deepEqual(sorted(registered), sorted(Object.keys(commands)));
});

/** Commands that are about a run which is there. */
const ofRuns = /^gradus\.(run\.(?!start|import)|rollouts?\.|checkpoint\.)/;

test("a view without runs offers commands that there are, and none that needs a run", () => {
  for (const { view, contents, when } of contributes.viewsWelcome) {
    const content = words[contents.slice(1, -1)]!;
    const offered = [...content.matchAll(/\(command:([\w.]+)/g)].map((match) => match[1]!);
    for (const command of offered.filter((one) => one.startsWith("gradus.")))
      assert.ok(Object.values<string>(commands).includes(command), command);
    if (view === views.runs)
      assert.deepEqual(
        offered.filter((one) => ofRuns.test(one)),
        [],
        when,
      );
  }
});

test("keys are of commands, and only where our documents are read", () => {
  for (const { command, when } of contributes.keybindings) {
    assert.ok(Object.values<string>(commands).includes(command), command);
    assert.match(when, /^editorTextFocus && resourceScheme (==|=~) \/?\^?gradus-/, command);
  }
  const keys = contributes.keybindings.map(({ key, when }) => `${key} ${when}`);
  assert.equal(new Set(keys).size, keys.length);
});

test("where Ctrl is a key of ours or of a text, a Mac has its own", () => {
  for (const { command, key, mac } of contributes.keybindings)
    assert.ok(!/ctrl/i.test(key) || /cmd/i.test(mac ?? ""), command);
  for (const [name, text] of Object.entries(words))
    assert.ok(!/ctrl/i.test(text) || text.includes("⌘"), name);
});

test("titles begin with a verb, are in title case and do not repeat the product's name", () => {
  const verbs = [
    "Archive",
    "Attack",
    "Cancel",
    "Check",
    "Clear",
    "Compare",
    "Evaluate",
    "Export",
    "Filter",
    "Fork",
    "Launch",
    "Pin",
    "Restore",
    "Sample",
    "Sort",
    "Tag",
    "Unpin",
    "Write",
    "Start",
    "Stop",
    "Pause",
    "Resume",
    "Delete",
    "Open",
    "Copy",
    "Refresh",
    "Validate",
    "Create",
    "Show",
    "Restart",
    "Set",
    "Diff",
    "Choose",
    "Go",
    "Find",
    "Follow",
    "Label",
    "Sort",
    "Pin",
  ];
  for (const { title, category } of contributes.commands) {
    const shown = words[title.slice(1, -1)]!;
    assert.equal(category, "Gradus");
    assert.ok(verbs.includes(shown.split(" ")[0]!), shown);
    assert.ok(!/gradus/i.test(shown), shown);
    assert.ok(
      shown
        .split(" ")
        .every((word) => /^[A-Z]/.test(word) || ["of", "to", "as", "in", "on", "a", "for"].includes(word)),
      shown,
    );
  }
});

test("every %key% of the manifest has words, and every word is used", () => {
  const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map((match) => match[1]!));
  for (const key of used)
    assert.ok(words[key] !== undefined && words[key] !== "", `package.nls.json lacks ${key}`);
  const unused = Object.keys(words).filter((key) => !used.has(key) && key !== "description");
  assert.deepEqual(unused, []);
});

test("every context key of a condition is one that the editor or this extension sets", () => {
  const own: readonly string[] = Object.values(contextKeys);
  const editors = [
    "view",
    "viewItem",
    "isWorkspaceTrusted",
    "workspaceFolderCount",
    "resourceLangId",
    "resourceFilename",
    "resourceScheme",
    "explorerResourceIsFolder",
    // No key: what is never shown.
    "false",
  ];
  const conditions = [
    ...Object.values(contributes.menus).flatMap((items) => items.flatMap(({ when }) => when ?? [])),
    ...contributes.viewsWelcome.map(({ when }) => when),
    ...contributes.commands.flatMap(({ enablement }) => enablement ?? []),
  ];
  for (const condition of conditions)
    for (const clause of condition.split(/\s*(?:&&|\|\|)\s*(?![^/]*\/(?:\s|$))/)) {
      const key = /^!?([\w.]+)/.exec(clause.trim())?.[1];
      assert.ok(key !== undefined && [...own, ...editors].includes(key), `${key} in: ${condition}`);
    }
  const set = sources.flatMap((source) =>
    [...source.matchAll(/setContext\("(\w+)"/g)].map((match) => match[1]!),
  );
  assert.deepEqual(sorted(new Set(set)), sorted(Object.keys(contextKeys)));
});

test("views, settings, the language and the panel carry the ids that the code uses", () => {
  assert.deepEqual(
    contributes.viewsContainers.activitybar.map(({ id }) => id),
    [views.container],
  );
  assert.deepEqual(
    contributes.views[views.container]!.map(({ id }) => id),
    [views.runs, views.configs],
  );
  assert.deepEqual(
    sorted(Object.keys(contributes.configuration.properties)),
    sorted(Object.values(settings)),
  );
  assert.ok(contributes.languages.some(({ id }) => id === language.id));
  assert.ok(panels.run.startsWith("gradus."));
  assert.ok(!activationEvents.includes("*"));
  // A launch may be called anything: names in a pattern cannot find it, and the editor would search for them in every window.
  assert.ok(activationEvents.includes("onStartupFinished"));
  assert.deepEqual(
    activationEvents.filter((event) => event.startsWith("workspaceContains:")),
    [`workspaceContains:${language.pattern}`, "workspaceContains:.gradus"],
  );
});

test("files that the manifest names exist", () => {
  const files = [
    ...contributes.grammars.map(({ path }) => path),
    ...contributes.languages.flatMap(({ configuration }) => configuration ?? []),
    ...contributes.viewsContainers.activitybar.map(({ icon }) => icon),
    ...contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ media }) => Object.values(media.image)),
    ),
  ];
  for (const file of files) assert.ok(existsSync(file), file);
});

test("welcome views name an action that exists, and every empty state has one", () => {
  const known: readonly string[] = Object.values(commands);
  for (const { contents } of contributes.viewsWelcome) {
    const shown = words[contents.slice(1, -1)]!;
    const links = [...shown.matchAll(/\(command:([\w.]+)\)/g)].map((match) => match[1]!);
    assert.ok(links.length > 0, shown);
    for (const link of links) assert.ok(known.includes(link) || link.startsWith("workbench."), link);
  }
  const runs = contributes.viewsWelcome
    .filter(({ view }) => view === views.runs)
    .map(({ when }) => when)
    .join("\n");
  for (const state of [
    "workspaceFolderCount == 0",
    "!isWorkspaceTrusted",
    "!gradus.hasConfigs",
    "== failed",
    "== disconnected",
    "== setUp",
    "== nodePath",
    "reconnecting",
  ])
    assert.ok(runs.includes(state), state);
});

const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
const said = (key: string): string => words[key.slice(1, -1)] ?? assert.fail(`${key} has no words`);

test("walkthrough steps run and link commands that exist, and show no Markdown that the editor leaves as it is", () => {
  const known: readonly string[] = Object.values(commands);
  for (const { completionEvents, description } of steps) {
    const links = [...said(description).matchAll(/\(command:([\w.]+)\)/g)].map(([, command]) => command!);
    assert.ok(links.length > 0, description);
    for (const command of [...links, ...completionEvents.map((event) => event.replace("onCommand:", ""))])
      assert.ok(known.includes(command), command);
    assert.doesNotMatch(said(description), /`/);
  }
  assert.equal(steps.at(-1)?.id, "compare");
});

test("walkthrough steps have a picture for each theme, small, of one size, and in words", () => {
  for (const { media } of steps) {
    assert.ok(said(media.altText).length > 20, media.altText);
    const sizes = Object.values(media.image).map((file) => {
      const png = readFileSync(file);
      assert.ok(png.length <= 120_000, `${file}: ${png.length} bytes`);
      return `${png.readUInt32BE(16)} × ${png.readUInt32BE(20)}`;
    });
    assert.equal(new Set(sizes).size, 1, `${media.altText}: ${sizes.join(", ")}`);
  }
  const named = new Set(steps.flatMap(({ media }) => Object.values(media.image)));
  const there = readdirSync("media/walkthrough").map((name) => `media/walkthrough/${name}`);
  assert.deepEqual(sorted(there), sorted(named), "no picture lies there unused");
});

/** Relative luminance of `#rrggbb`, WCAG 2.1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("the icon for dark themes is seen in high-contrast light as well, where the editor uses it too", () => {
  const drawn = readFileSync("media/gradus-dark.svg", "utf8");
  const colour = /stroke="(#[\da-f]{6})"/.exec(drawn)?.[1] ?? "";
  for (const ground of ["#ffffff", "#1f1f1f", "#000000"]) {
    const [light = 1, dark = 0] = [luminance(colour), luminance(ground)].sort((a, b) => b - a);
    assert.ok((light + 0.05) / (dark + 0.05) >= 3, `${colour} on ${ground}`);
  }
});
