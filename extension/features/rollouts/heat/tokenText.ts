/** What is known of a token, as Markdown for a hover. Pure. */
import { formatCount, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { tokenChannels } from "../../../../shared/rollouts/tokenChannels.ts";
import { plainMarkdown } from "../whyText.ts";
import { isOutlier, scaleText } from "./buckets.ts";
import type { TermSpan } from "./spans.ts";
import type { TokenMap } from "./tokenMap.ts";

/** By the number of who wrote it. */
const wrote = ["generated", "prefilled", "observed"];

/** @param tokens one, or several that write one character, or that follow it without text */
export function tokenMarkdown(
  map: TokenMap,
  tokens: readonly number[],
  response: string,
  spans: readonly TermSpan[],
): string {
  const [first] = tokens;
  if (first === undefined) return "";
  const scored = spans.filter(({ from, to }) => from <= first && first < to);
  return [
    ...tokens.map((token) => titleOf(map, token, response)),
    tableOf(map, tokens),
    ...scored.map(
      ({ term, value, what }) =>
        `\`${plainMarkdown(term)}\` gave ${plainMarkdown(what)} ${formatNumber(value)}.`,
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function titleOf(map: TokenMap, token: number, response: string): string {
  const text = map.text(token, response);
  const shown = text === "" ? "no text" : `\`${JSON.stringify(text).replaceAll("`", "ˋ")}\``;
  const kind = wrote[map.origin[token] ?? 0];
  const trains = map.mask[token] === 1 ? "trains" : "does not train";
  return `${shown} · token ${formatCount(token + 1)} of ${plainMarkdown(plural(map.total, "token"))} · id ${map.ids[token]} · ${kind}, ${trains}`;
}

/** A row a channel, a column a token. */
function tableOf(map: TokenMap, tokens: readonly number[]): string {
  const rows = map.channels.flatMap(({ channel, values, scale }) => {
    const numbers = tokens.map((token) => values[token]!);
    if (numbers.every(Number.isNaN)) return [];
    const shown = numbers.map((value) =>
      isOutlier(value, scale) ? `**${formatNumber(value)}**` : formatNumber(value),
    );
    return [`| ${tokenChannels[channel].label} | ${shown.join(" | ")} | ${scaleText(scale)} |`];
  });
  if (rows.length === 0) return "";
  const dashes = tokens.map(() => "--:").join(" | ");
  return [
    `| | ${tokens.map(() => "").join(" | ")} | scale (p1 to p99) |`,
    `| :-- | ${dashes} | --: |`,
    ...rows,
  ].join("\n");
}
