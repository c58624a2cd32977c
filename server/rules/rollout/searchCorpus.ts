import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const searchCorpus: Rule = {
  id: "search-corpus",
  title: "A search of nothing",
  why: "`{ use: simulated_search }` finds passages of a folder (`folder: docs`, or `made:facts`, the small made-up world that `env: facts` asks about), or has a served model play the search engine (`engine: { url, model }`). With neither a run would stop before its first step.\n\nName one of them.",
  check: eachRlStage((view, model) => {
    for (const [at, { declaration, params }] of view.config.body.rollout.tools.entries()) {
      if (declaration.name !== "simulated_search") continue;
      if (params["folder"] !== undefined || params["engine"] !== undefined) continue;
      const path = ["rollout", "tools", String(at)];
      reportAt(model, view, searchCorpus, [path, path.slice(0, 2)], {
        severity: "error",
        message:
          "There is nothing to search: name a folder of texts in `folder`, or a served model in `engine`.",
        fileFixes: [
          model.edits.set(
            pathIn(view, placeOf(view.body, ...path), "rollout", "tools", at, "folder"),
            "made:facts",
            "Search the small made-up world (`folder: made:facts`)",
          ),
        ],
      });
    }
  }),
};
