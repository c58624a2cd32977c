/** A config as people write long ones: many tasks and terms, and stages that each override something. */
export function longConfig(lines: number): string[] {
  const text = ["# A generated config.", "extends: sec", "name: long", "tasks:"];
  for (let task = 0; task < 12; task++)
    text.push(`  - name: task${task}`, "    env: countdown", `    numbers: [${2 + (task % 4)}]`);
  text.push("reward:", "  terms:");
  for (let term = 0; term < 12; term++)
    text.push(
      `    term${term}:`,
      "      use: equation",
      `      weight: { schedule: linear, from: 0, to: ${term}, over: 100 }`,
    );
  text.push("  success: { terms: [term0] }", "stages:");
  for (let stage = 0; text.length + 7 <= lines; stage++)
    text.push(
      `  - name: stage${stage}`,
      "    steps: 10",
      "    tasks:",
      `      task${stage % 12}: { numbers: [3, 4] }`,
      "    rollout:",
      "      group: 8",
      `    update: { optimizer: { lr: ${1 + stage}.0e-5 } }`,
    );
  while (text.length < lines) text.push(`# ${text.length}`);
  return text;
}
