"""What a program does that came from Sensors Analytics: sensors.py SPOOL URL

Records are stored when the call returns, and sent in order, 50 a request. PYTHONPATH leads to ferry.py, FERRY_LIBRARY to
libferrytracker.so.
"""

import sys

import ferry

spool, url = sys.argv[1:]

# SensorsAnalyticsSDK.start(configOptions:); a passive start: no person is before the program yet.
with ferry.Tracker(spool, profile="sensors", app_name="shop", starts_in_background=True) as sensors:
    sensors.start_sending(url, body="sensors")
    # registerSuperProperties
    sensors.set_super_properties({"Channel": "kiosk"})
    # track("ViewProduct", withProperties: …)
    sensors.track("ViewProduct", {"ProductID": 123456, "ProductCatalog": "Laptop Computer", "IsAddedToFav": False})
    sensors.foreground()
    # login: a track_signup record joins what the anonymous id did with the user's.
    sensors.login("ada")
    # trackTimerStart, trackTimerEnd
    sensors.start_timer("Checkout")
    sensors.end_timer("Checkout", {"Amount": 12.5})
    # flush
    print(sensors.dispatch(seconds=20).name)
