import { setTo } from "../fixes.ts";
import { found, verlRule } from "../rule.ts";

const [mode, path] = ["trainer.resume_mode", "trainer.resume_from_path"];

const isCheckpoint = (where: unknown): boolean => typeof where === "string" && where.includes("global_step_");

export const resumePath = verlRule({
  id: "verl-resume-path",
  title: "No checkpoint to resume from",
  why: "With `resume_mode=resume_path`, `_load_checkpoint` (verl/trainer/ppo/v1/trainer_base.py, verl/trainer/ppo/ray_trainer.py) asserts that `resume_from_path` is a path with `global_step_` in it, and reads the step from its end. It never reads the path in another mode.",
  check(model) {
    const [how, where] = [model.text(mode), model.value(path)];
    if (how === undefined || where === undefined) return [];
    if (how !== "resume_path") {
      const message = `\`resume_from_path\` is never read, because \`resume_mode\` is \`${how}\`.`;
      if (typeof where !== "string" || where === "") return [];
      const fixes = isCheckpoint(where) ? [setTo(model, mode, "resume_path")] : [];
      return found(model, [path], message, { severity: "warning", fixes });
    }
    if (isCheckpoint(where)) return [];
    const missing = typeof where !== "string" || where === "";
    const message = missing
      ? "`resume_mode` is `resume_path`, but `resume_from_path` is not set: verl stops after it loads the models."
      : `\`resume_from_path\` is not a checkpoint: use one of verl's folders, such as \`…/global_step_100\`.`;
    return found(model, [path, mode], message, { fixes: missing ? [setTo(model, mode, "auto")] : [] });
  },
});
