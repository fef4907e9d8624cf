"""What a program does that came from Google Analytics for iOS, version 3: google_analytics.py SPOOL URL

Hits are stored when the call returns. With an interval of -1 nothing is sent before dispatch(), as with a dispatchInterval that is negative.
PYTHONPATH leads to ferry.py, FERRY_LIBRARY to libferrytracker.so.
"""

import sys

import ferry

spool, url = sys.argv[1:]

with ferry.Tracker(spool, profile="google-analytics", interval=-1, app_name="player", lifecycle=False) as tracker:
    # GAI.sharedInstance().tracker(withTrackingId: "UA-XXXX-Y")
    tracker.start_sending(url, body="measurement", tracking_id="UA-XXXX-Y")
    # tracker.set(kGAIUserId, value: "ada"), tracker.set(GAIFields.customDimension(for: 1), value: "premium")
    tracker.login("ada")
    tracker.set_super_properties({"cd1": "premium"})
    # tracker.send(GAIDictionaryBuilder.createEvent(withCategory:action:label:value:).build())
    for number in range(45):
        tracker.track("play", {"category": "video", "label": "favorite.avi", "value": number})
    # GAI.sharedInstance().dispatch(completionHandler:), until there is no data, an error, or no time
    while True:
        result = tracker.dispatch(seconds=20)
        print(result.name)
        if result is not ferry.Dispatched.MORE:
            break
