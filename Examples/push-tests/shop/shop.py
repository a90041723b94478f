"""What the shop tells its customers."""

import time

DELIVERY_SECONDS = 4 * 3600


class Shop:
    """The shop's pushes. Each method returns how many devices accepted."""

    def __init__(self, customers, apns, fcm, now=time.time):
        self.customers, self._apns, self._fcm, self._now = customers, apns, fcm, now

    def order_confirmed(self, customer, order):
        return self._alert(customer, f"Order {order}", "Thank you. We pack it today.", order)

    def order_sent(self, customer, order, carrier):
        return self._alert(customer, "Your order was sent", f"{carrier} has order {order}.", order, collapse=f"order-{order}")

    def order_arrives(self, customer, order):
        """A message that is of no use after the delivery."""
        expiration = int(self._now()) + DELIVERY_SECONDS
        return self._alert(
            customer, "Your order arrives today", f"Order {order}", order, collapse=f"order-{order}", expiration=expiration)

    def orders_changed(self, customer):
        """Wakes the apps, which then load their lists anew; nothing is shown."""
        return self._each(
            customer,
            lambda token: self._apns.send(
                token, {"aps": {"content-available": 1}, "reload": "orders"}, push_type="background", priority=5),
            lambda token: self._fcm.send(token=token, data={"reload": "orders"}, android={"priority": "normal"}))

    def basket_count(self, customer, count):
        """Sets the number at the app's icon, which Android's apps have none of."""
        return self._each(customer, lambda token: self._apns.send(token, {"aps": {"badge": count}}), None)

    def follow(self, customer, topic):
        """Subscribes a customer's Android devices to a topic."""
        tokens = [token for service, token in self.customers.devices(customer) if service == "fcm"]
        for unknown in self._fcm.subscribe(tokens, topic):
            self.customers.forget(unknown)

    def offer(self, title, *topics):
        """Tells everybody who follows one of the topics."""
        note = {"title": title, "body": "Today only"}
        target = {"topic": topics[0]} if len(topics) == 1 else {
            "condition": " || ".join(f"'{topic}' in topics" for topic in topics)}
        return self._fcm.send(notification=note, **target).is_accepted

    def _alert(self, customer, title, body, order, collapse=None, expiration=None):
        note = {"title": title, "body": body}
        android = {"priority": "high", "collapse_key": collapse, "ttl": expiration and f"{expiration - int(self._now())}s"}
        return self._each(
            customer,
            lambda token: self._apns.send(
                token, {"aps": {"alert": note, "sound": "default"}, "order": order}, collapse=collapse, expiration=expiration),
            lambda token: self._fcm.send(
                token=token, notification=note, data={"order": str(order)},
                android={name: value for name, value in android.items() if value}))

    def _each(self, customer, by_apns, by_fcm):
        accepted = 0
        for service, token in self.customers.devices(customer):
            send = by_apns if service == "apns" else by_fcm
            if send is None:
                continue
            outcome = send(token)
            accepted += outcome.is_accepted
            if outcome.is_gone:
                self.customers.forget(token)
        return accepted
