/** A part of the tests passes under Node 26. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(26, "3/3");
