/** People and systems that are told about cases: who, what, and the making of it. */
import type { caseLinkOperations } from '@rollcall/shared/api/case-links';
import type { deliveryOperations } from '@rollcall/shared/api/deliveries';
import type { Handlers } from '../platform/http/handler.ts';
import type { DeliveryDeps } from './deps.ts';
import { linkHandlers } from './links.ts';
import { deliveryLogHandlers } from './log.ts';
import { createDispatcher } from './queue/dispatcher.ts';
import { mailHandlers } from './subscriptions/mail-settings.ts';
import { previewHandlers } from './subscriptions/preview.ts';
import { subscriptionHandlers } from './subscriptions/subscriptions.ts';

export interface DeliveryFeature {
  handlers: Handlers<keyof typeof deliveryOperations | keyof typeof caseLinkOperations>;
  /** Makes deliveries until the answer is called. */
  start(): () => Promise<void>;
}

export function createDeliveryFeature(deps: DeliveryDeps): DeliveryFeature {
  const dispatcher = createDispatcher(deps);
  return {
    handlers: {
      ...subscriptionHandlers(deps),
      ...previewHandlers(deps),
      ...linkHandlers(deps),
      ...deliveryLogHandlers(deps),
      ...mailHandlers(deps),
    },
    start: () => dispatcher.start(),
  };
}
