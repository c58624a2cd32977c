import { z } from "zod";
import { estimator } from "../config/declaration.ts";
import { Window } from "./window.ts";

export const last = estimator({
  name: "last",
  aliases: ["last_group"],
  summary: "An arm's last observation.",
  formula: "Q = s",
  sources: [],
  params: z.object({}),
  create: () => new Window(1),
});
