/** An explanation as elements: sentences, then the numbers they speak of as bars and tables. */
import { formatChange, formatNumber, plural } from "../../../shared/lib/format.ts";
import {
  criterionLabel,
  criterionName,
  metMark,
  metWords,
  pointsText,
  signOfCriterion,
  type Met,
} from "../../../shared/rollouts/criteria.ts";
import { fromWire, type MaybeNumber } from "../../../shared/rollouts/rollouts.ts";
import type { ResponsePart } from "../../../shared/rollouts/responseParts.ts";
import type { ToPanel } from "../../../shared/editor/runPanel.ts";
import type { TermCriteria, Why, WhyTopic } from "../../../shared/rollouts/why.ts";
import { alternativeTable } from "../../../shared/rollouts/whyTable.ts";
import { element } from "../../shared/dom.ts";

const number = (value: MaybeNumber): string => (value === null ? "–" : formatNumber(fromWire(value)));
const change = (value: MaybeNumber): string => (value === null ? "–" : formatChange(fromWire(value)));

/** What of the rollout is shown below the numbers. */
export type RolloutTexts = Pick<
  Extract<ToPanel, { type: "why" }>,
  "prompt" | "response" | "parts" | "help" | "shown"
>;

export function explanation(why: Why, rollout: RolloutTexts): HTMLElement[] {
  return [
    element(
      "h3",
      {},
      `Rollout ${why.index}`,
      element("span", { class: "muted" }, `  ${why.baseline}, ${why.scale}`),
    ),
    ...part(why, "advantage", undefined, [siblings(why)]),
    ...part(why, "terms", "What each reward term gave", shares(why)),
    ...part(why, "criteria", "Criteria", criteria(why)),
    ...part(why, "alternatives", "By another baseline or scale", alternatives(why)),
    ...part(why, "tokens", "Tokens", rules(why)),
    ...texts(rollout),
  ];
}

function part(
  { words }: Why,
  topic: WhyTopic,
  title: string | undefined,
  more: readonly HTMLElement[],
): HTMLElement[] {
  const sentences = words.filter(({ about }) => about === topic);
  if (sentences.length === 0 && more.length === 0) return [];
  return [
    element(
      "section",
      { class: "part", "data-topic": topic },
      ...(title === undefined ? [] : [element("h4", {}, title)]),
      ...sentences.map(({ text }) => element("p", {}, text)),
      ...more,
    ),
  ];
}

/** A bar from the middle of its cell: to the right for what is good, to the left for what is bad. */
function bar(share: number): HTMLElement {
  const fill = element("div", { class: "fill", "data-sign": share < 0 ? "negative" : "positive" });
  fill.style.setProperty("--share", String(Math.min(1, Math.abs(share))));
  return element("div", { class: "swing", "aria-hidden": "true" }, fill);
}

type Cell = string | HTMLElement;
function table(label: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): HTMLElement {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((cell, i) =>
        cell instanceof HTMLTableCellElement
          ? cell
          : element(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, cell),
      ),
    ),
  );
  return element(
    "div",
    { class: "wrap", tabindex: 0, role: "region", "aria-label": label },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
  );
}

/** A sentence instead of the last two columns. */
function wideCell(text: string): HTMLTableCellElement {
  const cell = element("td", { class: "note" }, text);
  cell.colSpan = 2;
  return cell;
}

function siblings({ siblings: all, index }: Why): HTMLElement {
  const largest = Math.max(
    0,
    ...all.map(({ advantage }) => Math.abs(fromWire(advantage))).filter(Number.isFinite),
  );
  return table(
    "Rollouts of the group",
    ["rollout", "reward", "advantage", ""],
    all.map((one) => {
      const value = fromWire(one.advantage);
      const name = one.index === index ? element("b", {}, `#${one.index} ◂`) : `#${one.index}`;
      if (one.note !== null) return [name, "–", wideCell(one.note)];
      return [
        name,
        number(one.reward),
        change(one.advantage),
        bar(largest === 0 || !Number.isFinite(value) ? 0 : value / largest),
      ];
    }),
  );
}

function shares({ shares: found, advantage }: Why): HTMLElement[] {
  if (found.kind === "none" || found.terms.length === 0) return [];
  const largest = Math.max(Math.abs(found.rest), ...found.terms.map(({ share }) => Math.abs(share)));
  const scaled = (share: number): number => (largest === 0 ? 0 : share / largest);
  const rows = found.terms.map(({ term, weight, value, share, note }): Cell[] => [
    term,
    note ?? (weight === 1 ? number(value) : `${number(value)} × ${formatNumber(weight)}`),
    formatChange(share),
    bar(scaled(share)),
  ]);
  const rest: Cell[][] =
    Math.abs(found.rest) > 1e-12
      ? [["without a value of any term", "", formatChange(found.rest), bar(scaled(found.rest))]]
      : [];
  const sum: Cell[] = [element("b", {}, "sum"), "", element("b", {}, change(advantage)), ""];
  return [table("Shares of the reward terms", ["term", "scored", "share", ""], [...rows, ...rest, sum])];
}

/** Siblings that have a column: of a larger group the others are only in the count. */
const mostSiblings = 32;

function verdict(one: TermCriteria["criteria"][number], met: Met, own: boolean): HTMLElement {
  const sign = signOfCriterion({ ...one, met });
  return element(
    "span",
    {
      class: "verdict",
      title: metWords(met),
      "data-sign": sign > 0 ? "positive" : sign < 0 ? "negative" : "none",
      ...(own && { "data-own": "true" }),
    },
    element("span", { "aria-hidden": "true" }, metMark(met)),
    element("span", { class: "visually-hidden" }, metWords(met)),
  );
}

/** Criteria down, the rollouts of the group across, the explained one first: a narrow panel may show no other. */
function criteria({ criteria: terms = [], siblings: all, index }: Why): HTMLElement[] {
  const own = all.findIndex((one) => one.index === index);
  const near = Math.max(0, Math.min(own - mostSiblings / 2, all.length - mostSiblings));
  const others = [...all.keys()].slice(near, near + mostSiblings).filter((i) => i !== own);
  const order = own < 0 ? others : [own, ...others];
  const heads = order.map((i) => (i === own ? `#${all[i]!.index} ◂` : `#${all[i]!.index}`));
  return terms.map(({ term, criteria: list }) => {
    const rows = list.map((one): Cell[] => {
      const known = one.met.filter((met) => met !== null);
      return [
        criterionName(one) === one.text
          ? one.text
          : element("span", { title: one.text }, criterionLabel(one)),
        pointsText(one),
        ...order.map((i) => verdict(one, one.met[i] ?? null, i === own)),
        `${known.filter((met) => met >= 1).length} of ${known.length}`,
      ];
    });
    return table(`Criteria of ${term}`, [term, "points", ...heads, "met"], rows);
  });
}

function alternatives({ alternatives: all }: Why): HTMLElement[] {
  const { scales, rows, others, missing } = alternativeTable(all);
  if (rows.length === 0) return [];
  const body = rows.map(({ baselines, cells }): Cell[] => [
    baselines.join(", "),
    ...cells.map(({ advantage, chosen }) =>
      chosen ? element("b", { title: "as the config chooses" }, `▸ ${change(advantage)}`) : change(advantage),
    ),
  ]);
  const rest = others.map(({ scale, advantage }) => `${scale} ${change(advantage)}`).join(", ");
  const notes = [
    ...(rest === "" ? [] : [`Other scales with the config's baseline: ${rest}.`]),
    ...(missing.length === 0 ? [] : [`The rollouts lack what these need: ${missing.join(", ")}.`]),
  ];
  return [
    table("Advantage by baseline and scale", ["baseline", ...scales], body),
    ...notes.map((note) => element("p", { class: "muted" }, note)),
  ];
}

function rules({ tokens }: Why): HTMLElement[] {
  if (tokens.rules.length === 0) return [];
  const place = ([start, end]: readonly [number, number]): string =>
    end - start === 1 ? String(start) : `${start}–${end - 1}`;
  return [
    element(
      "ul",
      {},
      ...tokens.rules.map(({ rule, effect, count, spans }) =>
        element(
          "li",
          { "data-effect": effect },
          element("b", {}, rule),
          ` ${plural(count, "token")}: ${spans.map(place).join(", ")}`,
        ),
      ),
    ),
  ];
}

/** Prefilled text is marked by its look and, for those who cannot see it, by words. */
function piece({ kind, text }: ResponsePart): Node {
  if (kind === "written") return document.createTextNode(text);
  const [name, title] =
    kind === "given"
      ? ["given", "prefilled, not generated in this rollout"]
      : ["message to the policy", "message to the policy between two attempts"];
  return element(
    "mark",
    { class: "given", title },
    element("span", { class: "visually-hidden" }, `${name}: `),
    text,
    element("span", { class: "visually-hidden" }, " generated: "),
  );
}

function texts({ prompt, response, parts, help, shown = {} }: RolloutTexts): HTMLElement[] {
  const one = (title: string, body: readonly Node[], about?: string): HTMLElement => {
    const text = element("pre", { tabindex: 0, "aria-label": title });
    text.append(...body);
    return element(
      "section",
      { class: "part" },
      element("h4", {}, title),
      ...(about === undefined ? [] : [element("p", { class: "muted" }, about)]),
      text,
    );
  };
  const plain = (text: string): Node[] => [document.createTextNode(text)];
  return [
    ...(prompt === "" ? [] : [one("Prompt", plain(prompt))]),
    ...(response === "" ? [] : [one("Response", parts?.map(piece) ?? plain(response), help)]),
    ...Object.entries(shown).map(([name, text]) => one(`Teacher context: ${name}`, plain(text))),
  ];
}
