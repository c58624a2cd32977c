/** Texts that name a trainer and on which a pattern may go back again and again. */
export const longTexts: readonly string[] = [
  `verl ${"a".repeat(5_000_000)}`,
  `trl\n${"from trl import (\n".repeat(20_000)}`,
  `openrlhf\n${" ".repeat(200_000)}`,
  `trl\n${"\n# ".repeat(100_000)}`,
  `verl\n${"-m ".repeat(100_000)}`,
  `verl ${"/".repeat(200_000)}`,
  `trl${" \\\n".repeat(60_000)}`,
];
