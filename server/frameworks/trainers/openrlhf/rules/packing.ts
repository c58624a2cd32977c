import { changeTo } from "../../../rules/fix.ts";
import type { RuleDiagnostic } from "../../../rules/rule.ts";
import type { Flags } from "../flags.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const packing = openrlhfRule({
  id: "openrlhf-packing",
  severity: "warning",
  title: "Packing implied by another flag",
  why: "Ring attention (`ds.ring_attn_size`) and dynamic batches need packed samples, so openrlhf/cli/train_ppo_ray.py switches `ds.packing_samples` on for them. Packed samples need flash attention, so it replaces any other `ds.attn_implementation`. Only the log reports either.",
  check: (flags) => [...implied(flags), ...attention(flags)],
});

function implied(flags: Flags): RuleDiagnostic[] {
  if (flags.value("ds.packing_samples") !== false) return [];
  const ring =
    (flags.number("ds.ring_attn_size") ?? 1) > 1 && flags.model.since("0.8.5")
      ? flags.written("ds.ring_attn_size")
      : undefined;
  const dynamic = flags.on("train.dynamic_batch_enable")
    ? flags.written("train.dynamic_batch_enable")
    : undefined;
  const at = ring ?? dynamic;
  if (at === undefined) return [];
  const message = `\`--${at.key}\` needs packed samples, so OpenRLHF switches \`${flags.name("ds.packing_samples")}\` on.`;
  return [{ at, severity: "info", message }];
}

function attention(flags: Flags): RuleDiagnostic[] {
  const at = flags.written("ds.attn_implementation");
  const wanted = flags.text("ds.attn_implementation");
  const packs =
    flags.on("ds.packing_samples") ||
    (flags.number("ds.ring_attn_size") ?? 1) > 1 ||
    flags.on("train.dynamic_batch_enable");
  if (at === undefined || wanted === undefined || !packs || wanted.includes("flash_attention")) return [];
  const message = `\`${wanted}\` is never used: packed samples need flash attention, so OpenRLHF uses \`flash_attention_2\` instead.`;
  return [{ at, message, fixes: changeTo(at, "flash_attention_2") }];
}
