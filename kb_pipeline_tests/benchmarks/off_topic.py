"""Questions of our own writing on what neither the sample nor the documents of a web library are about.

Every second one tunes the threshold of abstention, the others are held back and reported.
"""

QUESTIONS = """
What is the capital of Portugal?
How long does it take to boil an egg?
Who painted the ceiling of the Sistine Chapel?
Which river flows through Cairo?
How many players are in a rugby union team?
What causes the northern lights?
How do I prune an apple tree in winter?
What is the boiling point of ethanol?
Who wrote the Divine Comedy?
How far is the Moon from the Earth?
What do red pandas eat in the wild?
How do I remove a wine stain from a carpet?
Which vitamin prevents scurvy?
When did the Berlin Wall fall?
How is sourdough starter fed?
What is the offside rule in football?
How many strings does a cello have?
What is the tallest mountain in Africa?
How do bees find their way home?
What is the difference between a crocodile and an alligator?
Which spices belong in garam masala?
How do I change a bicycle tyre?
What is the gestation period of an elephant?
Who discovered penicillin?
How much does a blue whale weigh?
What is the main export of Chile?
How do I tie a bowline knot?
Which planets have rings?
What is the mortgage rate for first-time buyers?
How does a septic tank work?
What is the symbol of the element tungsten?
Why do leaves change colour in autumn?
How do I file a tax return as a freelancer?
What is the side effect of ibuprofen on the stomach?
Which language is spoken in Suriname?
How many bones does an adult human have?
What is the plot of Hamlet?
How long should I cook lentils?
What is a good opening move in chess?
How do glaciers form valleys?
Which antibiotics treat Lyme disease?
What is the maximum speed of a cheetah?
How do I get a visa for Japan?
Who won the first football world cup?
What does the aorta do?
How is parmesan cheese aged?
What is the population of New Zealand?
How do tides depend on the moon?
What is the sonata form in music?
How often should a dog be vaccinated against rabies?
What is the notice period for a tenant?
Which trees grow best in sandy soil?
How do I replace the spark plugs of a lawn mower?
What is the treaty of Westphalia?
How do submarines dive?
What wine goes with grilled salmon?
How many calories are in an avocado?
What is the speed limit on Austrian motorways?
How do I fold a paper crane?
Which muscles does rowing train?
What is kernel density estimation used for in archaeology?
How do I configure a Cisco switch for spanning tree?
What is the default port of a PostgreSQL server?
How do I merge two cells in a spreadsheet?
Which enzyme unwinds DNA during replication?
How large is the default stack of a Java thread?
What is the warranty of the coffee machine?
How many days of annual leave do employees get?
Who approves travel expenses?
What is the dress code of the office?
When is the next company picnic?
How do I reset my payroll password?
What is the refund policy for gift cards?
How do I calibrate a torque wrench?
What is the melting point of solder used for plumbing?
How does a heat pump defrost itself?
Which camera lens is best for birds?
How do I stop a tap from dripping?
What is the meaning of the word serendipity?
How is the inflation rate computed?
""".strip().splitlines()
TUNING, HELD = QUESTIONS[::2], QUESTIONS[1::2]
