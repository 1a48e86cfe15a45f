"""Four days of a dead-letter queue in a test: nobody consumes it, and what failed all its retries is deleted without a word."""

DAY = 86_400


def test_an_order_lives_four_days_in_a_dead_letter_queue_that_nobody_consumes(cf_queues):
    orders = cf_queues.create_queue("orders")

    def bill(_batch):
        raise ConnectionError("the bank does not answer")

    cf_queues.consume("orders", bill, max_retries=2, retry_delay=60, dead_letter_queue="orders-dlq")
    orders.send({"order": 7})
    cf_queues.run_until_idle()
    assert cf_queues.queue("orders-dlq").bodies() == [{"order": 7}]

    cf_queues.advance(4 * DAY)
    assert cf_queues.queue("orders-dlq").bodies() == []

    print(cf_queues.trace())
