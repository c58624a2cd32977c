import type { RoutePlace } from "../../core/blocks/routes.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What a route's target still needs: as the end of a sentence, and what to write. */
const lacks = (to: RoutePlace, { kl, objective }: StageBody): string | undefined => {
  if (to === "distil" && !kl.some(({ mask, place }) => mask === "distilled" && place === "loss"))
    return "no `kl` entry with `place: loss` has `mask: distilled`, so these rollouts stay with the objective. Add one";
  if (to === "pair" && !objective.also.some(({ of }) => of === "pair"))
    return "no loss of `objective.also` has `of: pair`, so these rollouts teach nothing. Add one, e.g. `{ use: dpo, of: pair }`";
  return undefined;
};

function unreached(view: StageView): { readonly path: readonly string[]; readonly to: RoutePlace }[] {
  const { kl, objective, route } = view.config.body;
  const leads = (to: RoutePlace): boolean => route.some((rule) => rule.to === to);
  return [
    ...(leads("distil")
      ? []
      : kl.flatMap(({ mask }, i) =>
          mask === "distilled" ? [{ path: ["kl", String(i), "mask"], to: "distil" as const }] : [],
        )),
    ...(leads("pair")
      ? []
      : objective.also.flatMap(({ of }, i) =>
          of === "pair" ? [{ path: ["objective", "also", String(i), "of"], to: "pair" as const }] : [],
        )),
  ];
}

function checkPlaces(model: ConfigModel, view: StageView): void {
  view.config.body.route.forEach(({ to }, index) => {
    const path = ["route", String(index), "to"];
    const lack = lacks(to, view.config.body);
    if (lack === undefined || !isOwn(placeOf(view.body, ...path))) return;
    const { kl } = view.config.body;
    const acting =
      to === "distil" ? kl.findIndex(({ place, shown }) => place === "loss" && shown !== undefined) : -1;
    reportAt(model, view, routes, [path], {
      severity: "warning",
      message: `The route leads to \`${to}\`, but ${lack}.`,
      fileFixes: [
        acting < 0
          ? undefined
          : model.edits.set(
              pathIn(view, placeOf(view.body, "kl", String(acting)), "kl", acting, "mask"),
              "distilled",
              "Let the KL entry act on them: `mask: distilled`",
            ),
        model.edits.remove(
          pathIn(view, placeOf(view.body, ...path), "route", index),
          "Remove this route",
          acting < 0,
        ),
      ],
    });
  });
}

/** A route leads somewhere, and what is for routed rollouts gets some. */
export const routes: Rule = {
  id: "route-leads-nowhere",
  title: "Route that leads nowhere",
  why: "`route` sends rollouts past the objective: to the KL entries with `mask: distilled` (`to: distil`) or to the losses of `objective.also` with `of: pair` (`to: pair`). If there is no such entry or loss, the route does nothing or takes rollouts out of training. If no route leads to an entry or loss, that one never acts.\n\nA model with teacher context (`kl.shown`) has to read the rollout again, but for `behaviour` only the log-probs of generation are known.",
  check: eachStage((view, model) => {
    checkPlaces(model, view);
    for (const { path, to } of unreached(view))
      if (isOwn(placeOf(view.body, ...path)))
        reportAt(model, view, routes, [path], {
          severity: "warning",
          message: `This acts on rollouts that a route sends to \`${to}\`, but no route does. Add \`route: [{ when: wrong, to: ${to} }]\`.`,
        });
    view.config.body.kl.forEach(({ model: other, shown }, index) => {
      if (shown !== undefined && other === "behaviour")
        reportAt(
          model,
          view,
          routes,
          [
            ["kl", String(index), "shown"],
            ["kl", String(index), "model"],
          ],
          {
            message:
              "`behaviour` cannot read teacher context: only its log-probs are known. Name another model, e.g. an average of the policy (`models: { teacher: { ema: { of: policy } } }`).",
          },
        );
    });
  }),
};
